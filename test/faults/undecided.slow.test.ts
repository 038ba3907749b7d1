import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

// Fault: C8
// Fault: C9 Mergeability is never computed => the merge call decides
it("a merge is requested after twenty reads without a mergeability, and GitHub decides", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" }, times: 20 });
  const moved = await board.api.move(number, board.stages.Done);
  expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
  expect(await kindsOf(board, number)).not.toContain("promotion_refused");
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
}, 120_000);
