import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { putFlow, readFlow } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

describe("a forge that has not worked out yet whether a branch can be merged", () => {
  // Fault: C8 Mergeability is not computed yet => Trunkline waits and reports no conflict
  it.each([1, 4])("for %i looks is waited for, and never taken for a conflict", async (times) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" }, times });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    expect(await kindsOf(board, number)).not.toContain("promotion_refused");
  });
});

// Fault: C11 Reads are 40 seconds old => nothing is created twice
describe("reads that lag behind writes", () => {
  it("lose no branch, make no second one, and take no stage back", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    world.forge.control.staleReads({ seconds: 40 });
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const { branchName } = (await board.api.readCard(number)).repositories[0] ?? {};
    expect(branchName).toBe(`card/${number}-say-hello`);
    // The forge does not show the branch yet, and says that it is there when it is cut again.
    await board.api.move(number, board.stages["To do"]);
    const again = await board.api.move(number, board.stages["In progress"]);
    expect([200, 409, 503]).toContain(again.status);
    world.forge.control.staleReads(null);
    await world.forge.settle();
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "branch_created")).toHaveLength(1);
    expect(kinds).not.toContain("branch_deleted");
  });

  it("bring no second pull request and no second merge", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await board.api.move(number, board.stages["In progress"]);
    world.forge.control.staleReads({ seconds: 40 });
    // The merge's outcome may not be seen in time: then the card follows when the forge tells of it.
    expect([200, 202]).toContain((await board.api.move(number, board.stages.Done)).status);
    world.forge.control.staleReads(null);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    await board.api.move(number, board.stages["In review"]);
    const again = await board.api.move(number, board.stages.Done);
    expect(again).toMatchObject({ status: 200, body: { promoted: [] } });
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "pull_request_opened")).toHaveLength(1);
  });
});

describe("a column that asks for a role", () => {
  it("takes cards from nobody below it, and nothing happens on the forge", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, minRole: "maintainer" } : stage,
    );
    await putFlow(board, { ...flow, stages });
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
