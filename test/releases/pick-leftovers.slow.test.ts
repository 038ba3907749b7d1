import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { sweepPickLeftovers } from "../../src/actions/releases/pick-card.ts";
import { mergedCard } from "../support/stories/merged-card.ts";
import { freeze, makeRelease, pick } from "../support/stories/releases.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

const left = async (board: TestBoard): Promise<unknown> =>
  (await board.person("ada", "GET", `/repos/${board.owner}/web/git/matching-refs/heads/trunkline/`)).body;

/** How many calls the forge gets while leftovers are swept. */
async function callsOfSweep(): Promise<number> {
  const { calls } = world.forge.control;
  calls.reset();
  await sweepPickLeftovers(world.service.deps);
  return calls.read().total;
}

// Fault: A6
it("what an ended pick left on the forge is taken away, and what one under way needs is not", async () => {
  const board = await world.board();
  const id = await makeRelease(board.api, "1.0");
  await freeze(board.api, id);
  const repository = `${board.owner}/web`;
  await world.forge.commit(repository, "release/1-0", { "app.txt": "eins\n" });
  const number = await mergedCard(world, board, { web: { "app.txt": "uno\n" } });
  const { faults } = world.forge.control;
  faults.add({
    match: { operation: "UpdateRefs" },
    fault: { kind: "answer", status: 502, effect: "before" },
  });
  expect((await pick(board.api, id, number)).status).toBe(409);
  faults.clear();
  const [action] = await board.db("release_actions").where({ release_id: id, kind: "pick" });
  const mine = { ref: `refs/heads/trunkline/tmp/pick-${action.id}` };
  const theirs = { ref: "refs/heads/trunkline/tmp/somebody's" };
  await world.forge.commit(repository, "trunkline/tmp/somebody's", { "x.txt": "x\n" });
  expect(await left(board)).toMatchObject([mine, theirs]);

  await board.db("release_actions").where({ id: action.id }).update({ state: "running" });
  expect(await callsOfSweep()).toBe(0);
  await board.db("release_actions").where({ id: action.id }).update({ state: "refused" });
  faults.add({
    match: { operation: "UpdateRefs" },
    fault: { kind: "answer", status: 403, effect: "before" },
  });
  await sweepPickLeftovers(world.service.deps);
  expect(await left(board)).toMatchObject([mine, theirs]);
  faults.clear();
  await sweepPickLeftovers(world.service.deps);
  expect(await left(board)).toMatchObject([theirs]);
  expect(await callsOfSweep()).toBe(0);
});

it("after a pick that went through the forge is asked nothing", async () => {
  const board = await world.board();
  const id = await makeRelease(board.api, "1.0");
  await freeze(board.api, id);
  const number = await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
  expect((await pick(board.api, id, number)).status).toBe(200);
  expect(await callsOfSweep()).toBe(0);
});
