import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sweepPickLeftovers } from "../../src/actions/sweep-pick-leftovers.ts";
import { mergedCard } from "../support/merged-card.ts";
import { freeze, makeRelease, pick } from "../support/releases.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it("what an ended pick left on the forge is taken away, and what one under way needs is not", async () => {
  const board = await world.board();
  const id = await makeRelease(board.api, "1.0");
  await freeze(board.api, id);
  const number = await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
  expect((await pick(board.api, id, number)).status).toBe(200);
  const [action] = await board.db("release_actions").where({ release_id: id, kind: "pick" });
  const branch = `trunkline/tmp/pick-${action.id}`;
  const repository = `${board.owner}/web`;
  const left = async (): Promise<unknown> =>
    (await board.person("ada", "GET", `/repos/${repository}/git/matching-refs/heads/trunkline/`)).body;
  await world.forge.commit(repository, branch, { "x.txt": "x\n" });
  await world.forge.commit(repository, "trunkline/tmp/somebody's", { "x.txt": "x\n" });

  // A second pick ended here, too, so that the repository is looked at in either case.
  const other = await mergedCard(world, board, { web: { "more.txt": "more\n" } });
  expect((await pick(board.api, id, other)).status).toBe(200);
  await board.db("release_actions").where({ id: action.id }).update({ state: "running" });
  await sweepPickLeftovers(world.service.deps);
  expect(await left()).toHaveLength(2);
  await board.db("release_actions").where({ id: action.id }).update({ state: "done" });
  await sweepPickLeftovers(world.service.deps);
  expect(await left()).toMatchObject([{ ref: "refs/heads/trunkline/tmp/somebody's" }]);
});
