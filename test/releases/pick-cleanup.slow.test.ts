import { afterEach, expect, it } from "@jest/globals";
import { sweepPickBranches } from "../../src/actions/releases/pick-card.ts";
import { headsOf, mergedCard } from "../support/stories/merged-card.ts";
import { frozenRelease, pick } from "../support/stories/releases.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const temporaryBranches = async (board: TestBoard, name = "web"): Promise<unknown> =>
  (await board.person("ada", "GET", `/repos/${board.owner}/${name}/git/matching-refs/heads/trunkline/`)).body;

/** The number of calls to GitHub during a cleanup. */
async function callsOfCleanup(): Promise<number> {
  const { calls } = world.forge.control;
  calls.reset();
  await sweepPickBranches(world.service.deps);
  return calls.read().total;
}

// Fault: A6
it("the temporary branch of a finished pick is deleted, that of a running pick is not", async () => {
  const board = await world.board();
  const id = await frozenRelease(board.api, "1.0");
  const repository = `${board.owner}/web`;
  await world.forge.commit(repository, "release/1-0", { "app.txt": "eins\n" });
  const number = await mergedCard(world, board, { web: { "app.txt": "uno\n" } });
  const { faults } = world.forge.control;
  faults.add({
    match: { operation: "UpdateRefs" },
    fault: { kind: "response", status: 502, effect: "before" },
  });
  expect((await pick(board.api, id, number)).status).toBe(409);
  faults.clear();
  const [action] = await board.db("operations").where({ release_id: id, kind: "pick" });
  const ours = { ref: `refs/heads/trunkline/tmp/pick-${action.id}` };
  const theirs = { ref: "refs/heads/trunkline/tmp/somebody's" };
  await world.forge.commit(repository, "trunkline/tmp/somebody's", { "x.txt": "x\n" });
  expect(await temporaryBranches(board)).toMatchObject([ours, theirs]);

  await board.db("operations").where({ id: action.id }).update({ state: "running" });
  expect(await callsOfCleanup()).toBe(0);
  await board.db("operations").where({ id: action.id }).update({ state: "refused" });
  faults.add({
    match: { operation: "UpdateRefs" },
    fault: { kind: "response", status: 403, effect: "before" },
  });
  await sweepPickBranches(world.service.deps);
  expect(await temporaryBranches(board)).toMatchObject([ours, theirs]);
  faults.clear();
  await sweepPickBranches(world.service.deps);
  expect(await temporaryBranches(board)).toMatchObject([theirs]);
  expect(await callsOfCleanup()).toBe(0);
});

// Fault: A6
it("temporary branches whose removal GitHub refuses after a refused pick are deleted later", async () => {
  const board = await world.board({ repositories: ["api", "web"] });
  const id = await frozenRelease(board.api, "1.0");
  const files = { ".github/workflows/ci.yml": "on: push\n" };
  const number = await mergedCard(world, board, { api: files, web: files });
  const heads = await headsOf(board, "release/1-0");
  const { faults } = world.forge.control;
  const message =
    "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission";
  faults.add({
    match: { operation: "PickMerges" },
    fault: { kind: "graphql-error", type: "FORBIDDEN", message, path: ["m0"] },
    skip: 1,
  });
  faults.add({ match: { operation: "UpdateRefs" }, fault: { kind: "response", status: 403 } });
  const refused = await pick(board.api, id, number);
  expect([refused.status, refused.body.message]).toEqual([409, `${board.owner}/web: ${message}`]);
  expect(await headsOf(board, "release/1-0")).toEqual(heads);
  const left = () => Promise.all(["api", "web"].map((name) => temporaryBranches(board, name)));
  expect((await left())[0]).toHaveLength(1);
  await sweepPickBranches(world.service.deps);
  expect((await left())[0]).toHaveLength(1);
  faults.clear();
  await sweepPickBranches(world.service.deps);
  expect(await left()).toEqual([[], []]);
});

it("after a successful pick the cleanup makes no call to GitHub", async () => {
  const board = await world.board();
  const id = await frozenRelease(board.api, "1.0");
  const number = await mergedCard(world, board, { web: { "hello.txt": "hello\n" } });
  expect((await pick(board.api, id, number)).status).toBe(200);
  expect(await callsOfCleanup()).toBe(0);
});
