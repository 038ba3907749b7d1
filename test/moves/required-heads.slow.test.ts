import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { resumeOrphans } from "../support/resume-orphans.ts";
import { eventually, type ApiResponse, type MoveResponse } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { cardInReview, headOf } from "../support/stories/merged-card.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let web: string;
beforeAll(async () => {
  board = await world.board();
  web = `${board.owner}/web`;
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world, board));

const MERGES = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };

const merge = (number: number, headShas: unknown): Promise<ApiResponse<MoveResponse & { message: string }>> =>
  board.api.post(`/v1/cards/${number}/move`, { statusId: board.stages.Done, index: 0, headShas });

async function inReview() {
  const number = await cardInReview(world, board, { web: { [`${randomUUID()}.txt`]: "work\n" } });
  const branch = await branchOf(board, number);
  const push = () => writeFile(board, "web", branch, `${randomUUID()}.txt`, "more\n");
  return { number, push, head: () => headOf(board, "web", branch) };
}

describe("a move with headShas", () => {
  it("is refused while a branch has another head, and merges the given one", async () => {
    const { number, push, head } = await inReview();
    const reviewed = await head();
    await push();
    const main = await headOf(board, "web", "main");
    const details = { requiredSha: reviewed, headSha: await head() };
    expect(await merge(number, { [web]: reviewed })).toMatchObject({
      status: 409,
      body: {
        blocked: { reason: "head_moved", repository: web, headSha: details.headSha, reasons: [{ details }] },
      },
    });
    expect(await headOf(board, "web", "main")).toBe(main);
    expect(await board.api.readCard(number)).toMatchObject({
      statusId: board.stages["In review"],
      blocked: { reason: "head_moved" },
    });
    expect(await merge(number, { [web]: details.headSha })).toMatchObject({
      status: 200,
      body: { task: { statusId: board.stages.Done, blocked: null }, promoted: [{ fullName: web }] },
    });
  });

  it("is refused by the job that resumes it after a push", async () => {
    const { number, push, head } = await inReview();
    const reviewed = await head();
    world.forge.control.faults.add({ match: MERGES, fault: { kind: "response", status: 503 } });
    expect((await merge(number, { [web]: reviewed })).status).toBe(503);
    await push();
    const main = await headOf(board, "web", "main");
    world.forge.control.faults.clear();
    const { blocked, statusId } = await eventually(
      async () => {
        await resumeOrphans(world.service.deps, board.workspaceId);
        return board.api.readCard(number);
      },
      (card) => card.blocked !== null || card.statusId === board.stages.Done,
    );
    expect([blocked?.reason, statusId]).toEqual(["head_moved", board.stages["In review"]]);
    expect(await headOf(board, "web", "main")).toBe(main);
    // A move without headShas takes the branch as it is.
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it.each<[string, (owner: string) => unknown, string]>([
    ["an unknown repository", () => ({ "acme/nothing": "a".repeat(40) }), "body.headShas.acme/nothing"],
    ["a repository of another card", (owner) => ({ [`${owner}/api`]: "a".repeat(40) }), "/api"],
    ["a short SHA", (owner) => ({ [`${owner}/web`]: "abc1234" }), "40 lower-case hex digits"],
    ["no SHA", (owner) => ({ [`${owner}/web`]: null }), "/web"],
    ["a list", () => ["a".repeat(40)], "body.headShas"],
  ])("returns 400 for %s", async (_, headShasOf, message) => {
    const { number } = await board.api.card({ repositoryIds: [board.repositories["web"]] });
    const refused = await merge(number, headShasOf(board.owner));
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    expect(await board.api.readCard(number)).toMatchObject({ blocked: null });
  });
});
