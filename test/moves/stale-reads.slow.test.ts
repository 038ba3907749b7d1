import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

describe("a move while GitHub computes the mergeability", () => {
  // Fault: C8 Mergeability is not computed yet => Trunkline waits
  it.each([1, 4])("waits for %i reads and reports no conflict", async (times) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" }, times });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    expect(await kindsOf(board, number)).not.toContain("promotion_refused");
  });
});

// Fault: C11 Reads are 40 seconds old => nothing is created twice
describe("moves while reads lag behind writes", () => {
  it("lose no branch, create no second one, and keep the stage", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    world.forge.control.setStaleReads({ seconds: 40 });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    expect(await branchOf(board, number)).toBe(`card/${number}-say-hello`);
    // Reads do not show the branch yet, but GitHub refuses to create it again.
    await board.api.move(number, board.stages["To do"]);
    const again = await board.api.move(number, board.stages["In progress"]);
    expect([200, 409, 503]).toContain(again.status);
    world.forge.control.setStaleReads(null);
    await allProcessed(world);
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "branch_created")).toHaveLength(1);
    expect(kinds).not.toContain("branch_deleted");
  });

  it("open no second pull request and merge once", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await board.api.move(number, board.stages["In progress"]);
    world.forge.control.setStaleReads({ seconds: 40 });
    // Reads may not show the merge in time: then the card follows after the webhook.
    expect([200, 202]).toContain((await board.api.move(number, board.stages.Done)).status);
    world.forge.control.setStaleReads(null);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    await board.api.move(number, board.stages["In review"]);
    const again = await board.api.move(number, board.stages.Done);
    expect(again).toMatchObject({ status: 200, body: { promoted: [] } });
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "pull_request_opened")).toHaveLength(1);
  });
});

describe("a column with a minimum role", () => {
  it("refuses moves and new cards of lower roles without a write to GitHub", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await putFlow(board, withStage(await readFlow(board), "Done", { minRole: "maintainer" }));
    const member = await board.as({ role: "member" });
    world.forge.control.calls.reset();
    const refused = await member.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining("maintainer") } });
    const created = await member.post("/v1/cards", {
      title: "Straight to the end",
      statusId: board.stages.Done,
    });
    expect(created.status).toBe(403);
    expect(world.forge.control.calls.read().writes).toBe(0);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });
});
