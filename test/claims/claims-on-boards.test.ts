import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { claimed, expireIn, release, under, type ShownClaim } from "./support/claim-calls.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world);
});

/** A board with a card in its first column, and a reader at the other process. */
async function boardWithCard(): Promise<{ board: TestBoard; number: number; agent: Api; elsewhere: Api }> {
  const board = await world.board();
  const { number } = await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] });
  const agent = await board.as({ role: "member" });
  const elsewhere = makeApi(second.baseUrl, (await board.as({ role: "viewer" })).apiKey);
  return { board, number, agent, elsewhere };
}

interface Board {
  readonly columns: readonly { readonly tasks: readonly { readonly claim?: ShownClaim }[] }[];
}

async function read(api: Api): Promise<{ text: string; etag: string; claim: ShownClaim | undefined }> {
  const { text, headers, body } = await api.get<Board>("/v1/board");
  return { text, etag: headers.get("etag") ?? "", claim: body.columns[0]?.tasks[0]?.claim };
}

describe("a cached board on another process", () => {
  it("shows a claim, its renewal and its release at once, and is the same without claims", async () => {
    const { number, agent, elsewhere } = await boardWithCard();
    const before = await read(elsewhere);
    expect(before.text).not.toContain('"claim"');
    const held = await claimed(agent, number, { note: "On it" });
    const { claimId: _, ...shown } = held;
    expect((await read(elsewhere)).claim).toEqual(shown);
    await agent.patch(`/v1/cards/${number}`, { priority: "none" }, under(held));
    const renewed = (await read(elsewhere)).claim;
    expect(Date.parse(renewed?.expiresAt ?? "")).toBeGreaterThan(Date.parse(shown.expiresAt));
    await release(agent, number);
    expect(await read(elsewhere)).toEqual(before);
  });

  it("loses an expired claim, and gets its earlier ETag back, without any write", async () => {
    const { board, number, agent, elsewhere } = await boardWithCard();
    const before = await read(elsewhere);
    await claimed(agent, number);
    await expireIn(board, number, 1_000);
    const during = await read(elsewhere);
    expect(during.claim).toMatchObject({ generation: 1 });
    const ask = () => elsewhere.get("/v1/board", { headers: { "if-none-match": during.etag } });
    expect((await ask()).status).toBe(304);
    const changes = () => board.db("board_changes").where({ project_id: board.projectId }).select("xid");
    const written = await changes();
    const until = Date.parse(during.claim?.expiresAt ?? "");
    while (Date.now() <= until + 20) await sleep(25);
    expect((await ask()).status).toBe(200);
    expect(await read(elsewhere)).toEqual(before);
    expect(await changes()).toEqual(written);
  });

  it("shows the current name and kind of a holder", async () => {
    const { board, number, agent, elsewhere } = await boardWithCard();
    const { holder } = await claimed(agent, number);
    await read(elsewhere);
    await board.db("users").where({ id: holder.id }).update({ name: "another name", kind: "human" });
    expect((await read(elsewhere)).claim?.holder).toMatchObject({ name: "another name", kind: "human" });
    const registered = { workspace_id: board.workspaceId, user_id: holder.id };
    await board.db("workspace_agents").insert(registered);
    expect((await read(elsewhere)).claim?.holder).toMatchObject({ kind: "agent" });
    await board.db("workspace_agents").where(registered).delete();
    expect((await read(elsewhere)).claim?.holder).toMatchObject({ kind: "human" });
  });

  it("loses the claim of a holder who leaves the board", async () => {
    const { board, number, agent, elsewhere } = await boardWithCard();
    const { holder } = await claimed(agent, number);
    await read(elsewhere);
    await board.db("memberships").where({ user_id: holder.id }).delete();
    expect((await read(elsewhere)).claim).toBeUndefined();
  });
});
