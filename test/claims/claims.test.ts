import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { lockClaim } from "../../src/store/cards/claims.ts";
import { transaction } from "../../src/store/db/transaction.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api } from "../support/api.ts";
import {
  claim,
  claimed,
  claimNext,
  expireIn,
  release,
  shownClaim,
  under,
  type ShownClaim,
} from "./support/claim-calls.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let agent: Api;
let other: Api;
beforeEach(async () => {
  board = await world.board();
  agent = await board.as({ role: "member" });
  other = await board.as({ role: "member" });
});

const newCard = async (fields: object = {}): Promise<number> =>
  (await board.api.card({ repositoryIds: [], ...fields })).number;

/** Every claim that the reads of a board show for a card. */
async function everywhere(api: Api, number: number): Promise<(ShownClaim | undefined)[]> {
  type Shown = { readonly number: number; readonly claim?: ShownClaim };
  const { columns } = (await api.get<{ columns: { tasks: Shown[] }[] }>("/v1/board")).body;
  const { body: listed } = await api.get<Shown[]>("/v1/cards");
  const tasks = [...columns.flatMap((column) => column.tasks), ...listed];
  const own = tasks.filter((task) => task.number === number);
  return [await shownClaim(api, number), ...own.map((task) => task.claim)];
}

describe("a claim", () => {
  it("is shown on the card, in lists and on the board while it is held, without its id", async () => {
    const number = await newCard({ statusId: board.stages["To do"] });
    const { body: before } = await board.api.get(`/v1/cards/${number}`);
    expect(await everywhere(other, number)).toEqual([undefined, undefined, undefined]);
    const { claimId, ...shown } = await claimed(agent, number, { note: "On it" });
    expect(claimId).toMatch(/^[0-9a-f-]{36}$/);
    const holder = { name: "member agent", avatarUrl: null, kind: "machine" };
    expect(shown).toMatchObject({ generation: 1, holder, note: "On it" });
    expect(await everywhere(other, number)).toEqual([shown, shown, shown]);
    expect((await release(agent, number)).status).toBe(204);
    expect((await board.api.get(`/v1/cards/${number}`)).body).toEqual(before);
    expect(await everywhere(other, number)).toEqual([undefined, undefined, undefined]);
  });

  it("of a draft is shown in the backlog", async () => {
    const number = await newCard();
    await claimed(agent, number);
    const { body } = await board.api.get<{ claim?: ShownClaim }[]>("/v1/backlog");
    expect(body.map((card) => card.claim?.generation)).toEqual([1]);
  });

  it("prevents other claims only, and the response says who holds it and until when", async () => {
    const number = await newCard({ statusId: board.stages["To do"] });
    const { claimId: _, ...shown } = await claimed(agent, number);
    const refused = await claim(other, number);
    expect(refused).toMatchObject({ status: 409, body: { code: "claimed", claim: shown } });
    expect(refused.body.message).toBe(`Card ${number} is claimed by member agent until ${shown.expiresAt}.`);
    expect(refused.text).not.toContain("claimId");
    expect((await other.patch(`/v1/cards/${number}`, { title: "Renamed" })).status).toBe(200);
    expect((await other.post(`/v1/cards/${number}/comments`, { body: "Hello" })).status).toBe(201);
    expect((await other.move(number, board.stages["In progress"])).status).toBe(200);
  });

  it("is renewed with its id, for the new time and with the note unless another is given", async () => {
    const number = await newCard();
    const first = await claimed(agent, number, { note: "On it" });
    const { claimId } = first;
    const renewed = await claimed(agent, number, { claimId, ttlSeconds: 3_600 });
    expect(renewed).toEqual({ ...first, expiresAt: renewed.expiresAt });
    expect(Date.parse(renewed.expiresAt) - Date.parse(first.expiresAt)).toBeGreaterThan(3_500_000);
    expect(await claimed(agent, number, { claimId, note: null })).toMatchObject({
      generation: 1,
      note: null,
    });
    expect(await claim(other, number, { claimId })).toMatchObject({
      status: 409,
      body: { code: "claim_lost", claim: { generation: 1 } },
    });
    expect(await claim(agent, number, { claimId: randomUUID() })).toMatchObject({
      status: 409,
      body: { code: "claim_lost" },
    });
  });

  it("is taken over by a later run of the same program, which fences out the earlier one", async () => {
    const number = await newCard();
    const before = await claimed(agent, number);
    const after = await claimed(agent, number);
    expect(after.generation).toBe(2);
    expect(after.claimId).not.toBe(before.claimId);
    expect(await claim(agent, number, { claimId: before.claimId })).toMatchObject({
      status: 409,
      body: { code: "claim_lost" },
    });
    const path = `/v1/cards/${number}`;
    const late = await agent.patch(path, { title: "From the earlier run" }, under(before));
    expect(late).toMatchObject({ status: 409, body: { code: "claim_lost", claim: { generation: 2 } } });
    expect((await agent.patch(path, { title: "From the later run" }, under(after))).status).toBe(200);
    expect((await board.api.readCard(number)).title).toBe("From the later run");
  });

  it("is free when it has expired, and generations continue", async () => {
    const number = await newCard();
    const first = await claimed(agent, number);
    await expireIn(board, number, -1);
    expect(await shownClaim(board.api, number)).toBeUndefined();
    expect((await claim(agent, number, { claimId: first.claimId })).body.code).toBe("claim_lost");
    expect((await claimed(other, number)).generation).toBe(2);
    await release(other, number);
    expect((await claimed(agent, number)).generation).toBe(3);
  });

  it("is released by its holder only", async () => {
    const number = await newCard();
    expect(await release(agent, number)).toMatchObject({ status: 409, body: { code: "claim_lost" } });
    await claimed(agent, number);
    const refused = await release(other, number);
    expect(refused).toMatchObject({ status: 409, body: { code: "claim_lost", claim: { generation: 1 } } });
    expect((await release(agent, number)).status).toBe(204);
    expect((await release(agent, number)).status).toBe(409);
  });

  it("is one of at most three of a credential, on all its boards", async () => {
    const second = await world.board();
    const both = await board.as({ boards: [board, second] });
    const on = (workspaceId: string) => ({ headers: { "x-service-workspace": workspaceId } });
    const numbers = [await newCard(), await newCard(), await newCard()];
    const { number: there } = await second.api.card();
    for (const number of numbers.slice(0, 2)) await claim(both, number, {}, on(board.workspaceId));
    expect((await claim(both, there, {}, on(second.workspaceId))).status).toBe(200);
    const third = numbers[2] ?? 0;
    const refused = await claim(both, third, {}, on(board.workspaceId));
    expect(refused).toMatchObject({ status: 409, body: { code: "claim_limit" } });
    // To take over its own claim it needs no room.
    expect((await claim(both, there, {}, on(second.workspaceId))).body.generation).toBe(2);
    expect((await claim(both, numbers[0] ?? 0, {}, on(board.workspaceId))).body.generation).toBe(2);
    await expireIn(board, numbers[0] ?? 0, -1);
    expect((await claim(both, third, {}, on(board.workspaceId))).status).toBe(200);
  });

  it("is counted in concurrent calls of one credential", async () => {
    const numbers = await Promise.all(Array.from({ length: 8 }, () => newCard()));
    const responses = await Promise.all([
      ...numbers.map((number) => claim(agent, number)),
      claimNext(agent, { statusId: board.stages.Backlog }),
    ]);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  it("of one key and request is one claim, also when its response is repeated", async () => {
    const number = await newCard();
    const key = randomUUID();
    const first = await claim(agent, number, {}, { key });
    const again = await claim(agent, number, {}, { key });
    expect([again.text, again.headers.get("idempotent-replay")]).toEqual([first.text, "true"]);
    expect((await shownClaim(agent, number))?.generation).toBe(1);
  });

  it.each([
    ["no time", {}],
    ["59 seconds", { ttlSeconds: 59 }],
    ["more than an hour", { ttlSeconds: 3_601 }],
    ["half a second", { ttlSeconds: 60.5 }],
    ["a long note", { ttlSeconds: 60, note: "x".repeat(501) }],
    ["an id that is not a UUID", { ttlSeconds: 60, claimId: "mine" }],
  ])("with %s is 400", async (_, body) => {
    expect((await agent.post(`/v1/cards/${await newCard()}/claim`, body)).status).toBe(400);
  });

  it("of a card of another board is 404", async () => {
    const theirs = await world.board();
    const { number } = await theirs.api.card();
    const unknown = number + 100;
    await theirs.db("cards").where({ workspace_id: theirs.workspaceId, number }).update({ number: unknown });
    await claimed(theirs.api, unknown);
    expect((await claim(agent, unknown)).status).toBe(404);
    expect((await release(agent, unknown)).status).toBe(404);
    expect((await claimNext(agent, { projectId: theirs.projectId })).status).toBe(404);
    expect((await claimNext(agent, { statusId: theirs.stages["To do"] })).status).toBe(404);
    expect((await claimNext(agent)).status).toBe(204);
  });

  it("ends with its card, which makes room for another one", async () => {
    const numbers = [await newCard(), await newCard(), await newCard()];
    for (const number of numbers) await claimed(agent, number);
    expect((await board.api.delete(`/v1/cards/${numbers[0]}`)).status).toBe(204);
    expect((await claim(agent, numbers[0] ?? 0)).status).toBe(404);
    expect((await claim(agent, await newCard())).status).toBe(200);
  });

  it("ends when its holder's credential is revoked", async () => {
    const number = await newCard();
    await claimed(agent, number);
    await revokeCredential(board.db, agent.apiKey.split("_")[1] ?? "");
    expect((await agent.get("/v1/me")).status).toBe(401);
    expect(await shownClaim(board.api, number)).toBeUndefined();
    expect((await claimed(other, number)).generation).toBe(2);
  });

  it("ends when its holder leaves the board", async () => {
    const number = await newCard();
    const { holder } = await claimed(agent, number);
    await board.db("memberships").where({ user_id: holder.id, workspace_id: board.workspaceId }).delete();
    expect(await shownClaim(board.api, number)).toBeUndefined();
  });
});

describe("GET /v1/cards?claimed=", () => {
  it("lists claimed cards, free cards, and those of the credential", async () => {
    const [mine, theirs, free] = [await newCard(), await newCard(), await newCard()];
    await claimed(agent, mine);
    await claimed(other, theirs);
    await claimed(agent, free);
    await expireIn(board, free, -1);
    const listed = async (claimedBy: string) =>
      (await agent.get<{ number: number }[]>(`/v1/cards?claimed=${claimedBy}`)).body.map(
        ({ number }) => number,
      );
    expect(await listed("true")).toEqual([mine, theirs]);
    expect(await listed("false")).toEqual([free]);
    expect(await listed("mine")).toEqual([mine]);
    expect((await agent.get("/v1/cards?claimed=1")).status).toBe(400);
  });
});

describe("a claim that another transaction has locked for too long", () => {
  it("fails without a rejection that nothing handles, which would end the process", async () => {
    const number = await newCard();
    const { id: cardId } = await board
      .db("cards")
      .where({ workspace_id: board.workspaceId, number })
      .first("id");
    await claimed(agent, number, {});
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const { db } = world.service.deps;
    await transaction(db, async (holder) => {
      await lockClaim(holder, cardId);
      const waiting = transaction(db, async (trx) => {
        await trx.raw("set local lock_timeout = '100ms'");
        await lockClaim(trx, cardId);
      });
      await expect(waiting).rejects.toThrow("lock timeout");
    });
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});
