import { beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { claim, claimed, expireIn, release, shownClaim, under } from "./support/claim-calls.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let agent: Api;
let other: Api;
beforeAll(async () => {
  board = await world.board();
});

async function newCard(): Promise<number> {
  agent = await board.as({ role: "member" });
  other = await board.as({ role: "member" });
  return (await board.api.card()).number;
}

const rename = (api: Api, number: number, options: object, title = "Renamed") =>
  api.patch<{ code?: string; title?: string }>(`/v1/cards/${number}`, { title }, options);
const lost = { status: 409, body: { code: "claim_lost" } };

describe("X-Claim on a write on a card", () => {
  it("renews the claim for its time", async () => {
    const number = await newCard();
    const held = await claimed(agent, number, { ttlSeconds: 600 });
    await expireIn(board, number, 5_000);
    const before = await shownClaim(agent, number);
    expect((await rename(agent, number, under(held))).status).toBe(200);
    const after = await shownClaim(agent, number);
    const grownBy = Date.parse(after?.expiresAt ?? "") - Date.parse(before?.expiresAt ?? "");
    expect(grownBy).toBeGreaterThan(590_000);
  });

  it.each([
    [
      "a comment",
      (api: Api, number: number, options: object) =>
        api.post(`/v1/cards/${number}/comments`, { body: "Done" }, options),
    ],
    [
      "a move",
      (api: Api, number: number, options: object) => api.move(number, board.stages["To do"], 0, options),
    ],
    ["a change", (api: Api, number: number, options: object) => rename(api, number, options)],
    ["a claim", (api: Api, number: number, options: object) => claim(api, number, {}, options)],
    ["a deletion", (api: Api, number: number, options: object) => api.delete(`/v1/cards/${number}`, options)],
  ])("refuses %s under a lost claim, and accepts it under a valid one", async (_, write) => {
    const number = await newCard();
    const before = await claimed(agent, number);
    const held = await claimed(agent, number);
    expect(await write(agent, number, under(before))).toMatchObject(lost);
    expect((await write(agent, number, under(held))).status).toBeLessThan(300);
  });

  it("refuses a claim that has expired, was released, or belongs to another credential or card", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    expect(await rename(other, number, under(held))).toMatchObject(lost);
    const { number: another } = await board.api.card();
    expect(await rename(agent, another, under(held))).toMatchObject(lost);
    expect(await rename(agent, number, under({ ...held, generation: 2 }))).toMatchObject(lost);
    await expireIn(board, number, -1);
    expect(await rename(agent, number, under(held))).toMatchObject(lost);
    const again = await claimed(agent, number);
    await release(agent, number);
    expect(await rename(agent, number, under(again))).toMatchObject(lost);
    expect((await board.api.readCard(number)).title).toBe("A card");
    expect((await rename(agent, 4711, under(again))).status).toBe(404);
    expect((await agent.patch("/v1/cards/99999999999", { title: "x" }, under(again))).status).toBe(404);
  });

  it.each([
    "",
    "1",
    "claim.1",
    randomUUID(),
    `${randomUUID()}.`,
    `${randomUUID()}.-1`,
    `${randomUUID()}.1.2`,
  ])("refuses %j as 400, and changes nothing", async (token) => {
    const number = await newCard();
    const { status, body } = await rename(agent, number, { headers: { "x-claim": token } });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining("X-Claim") }),
    ]);
    expect((await board.api.readCard(number)).title).toBe("A card");
  });

  it("is ignored by writes that are not about one card", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    await release(agent, number);
    expect((await agent.post("/v1/cards", { title: "New" }, under(held))).status).toBe(201);
  });

  it("does not renew a claim for a refused write", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    const before = await shownClaim(agent, number);
    expect((await rename(agent, number, under(held), "")).status).toBe(400);
    expect(await shownClaim(agent, number)).toEqual(before);
  });

  it("gets the stored response for a repeated request, also after the claim is lost", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    const options = { ...under(held), key: randomUUID() };
    const first = await rename(agent, number, options);
    await claimed(agent, number);
    const again = await rename(agent, number, options);
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  it("keeps the claim from being taken over until the write is committed", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    const { id } = await board.api.readCard(number);
    const ended: string[] = [];
    let writing: Promise<unknown> = Promise.resolve();
    let taking: Promise<unknown> = Promise.resolve();
    await whileLocked(
      board.db,
      (trx) => trx("cards").where({ id }).forNoKeyUpdate(),
      async () => {
        writing = rename(agent, number, under(held)).then(({ status }) => ended.push(`write ${status}`));
        await untilWaitingForLock(board.db, 1);
        taking = claim(agent, number).then(({ status }) => ended.push(`takeover ${status}`));
        await untilWaitingForLock(board.db, 2);
        expect(ended).toEqual([]);
      },
    );
    await Promise.all([writing, taking]);
    expect(ended).toEqual(["write 200", "takeover 200"]);
    expect((await shownClaim(agent, number))?.generation).toBe(2);
  });

  it("refuses a write that waited while the claim was taken over", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    const { id } = await board.api.readCard(number);
    let writing: ReturnType<typeof rename> | undefined;
    await whileLocked(
      board.db,
      (trx) => trx("claims").where({ card_id: id }).update({ generation: 2, claim_id: randomUUID() }),
      async () => {
        writing = rename(agent, number, under(held));
        await untilWaitingForLock(board.db);
      },
    );
    expect(await writing).toMatchObject(lost);
  });

  it("covers the beginning of a move: one that has begun finishes", async () => {
    const number = await newCard();
    const held = await claimed(agent, number);
    const looks = holdCalls(world, { operation: "Inspect" });
    const moving = agent.move(number, board.stages["In progress"], 0, under(held));
    await looks.arrived();
    expect((await claimed(agent, number)).generation).toBe(2);
    looks.resume();
    expect((await moving).status).toBe(200);
    expect((await agent.move(number, board.stages["In review"], 0, under(held))).body).toMatchObject({
      code: "claim_lost",
    });
  });
});
