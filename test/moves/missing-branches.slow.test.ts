/** Cards refused for want of a branch that they start from or merge into, once it is there: told by a webhook, or found by repair. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { followTrunks } from "../../src/actions/reconcile/follow-trunk.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { clearedWhen, itemsOf } from "../support/inbox.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { openCard } from "../support/stories/open-card.ts";
import { rechecked } from "../support/stories/rechecked.ts";
import { lose, released } from "../support/stories/repairing.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { deleteBranch, pushTo } from "../support/stories/work-on-card.ts";
import { startWorld, type BoardOptions, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => released(world));
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

/** A board whose flow starts from, and merges into, a branch that nobody has made. */
async function aimedAtNothing(options: BoardOptions = {}): Promise<TestBoard> {
  const board = await world.board(options);
  const flow = await readFlow(board);
  const aimed = flow.stages.map((stage) =>
    stage.name === "Done" ? { ...stage, rule: { type: "merge", into: "develop" } } : stage,
  );
  await putFlow(board, { ...flow, stages: aimed });
  return board;
}

const blockedOf = async (board: TestBoard, number: number) => (await board.api.readCard(number)).blocked;
const reasonsOf = async (board: TestBoard, number: number): Promise<string[]> =>
  ((await blockedOf(board, number))?.reasons ?? []).map(({ reason }) => reason);
const clearedOf = (board: TestBoard, number: number) =>
  board.api.cardWhen(number, ({ blocked }) => blocked === null);
const reopen = (board: TestBoard, pull: number) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/${pull}`, { state: "open" });

/** Pushes a branch by git; with its news lost, the hourly look at the trunks is what finds it. */
const told = {
  "is told of": async (board: TestBoard, branch: string, repository = "web"): Promise<void> => {
    await pushTo(board, branch, `${branch}.txt`, "ada", repository);
    await rechecked(world);
  },
  "was not told of": async (board: TestBoard, branch: string, repository = "web"): Promise<void> => {
    lose(world);
    await pushTo(board, branch, `${branch}.txt`, "ada", repository);
    await world.forge.settle();
    await followTrunks(world.service.deps);
    await rechecked(world);
    world.forge.control.webhooks.clear();
  },
};

describe.each(["is told of", "was not told of"] as const)("a branch that %s", (how) => {
  const push = told[how];

  // Contract: Moves: `blocked` returns to `null` when the card can move
  it("frees the cards that are to start from it", async () => {
    const board = await aimedAtNothing();
    const { number } = await board.api.card();
    const refused = await board.api.move(number, board.stages["In progress"]);
    expect(refused.body.blocked).toMatchObject({
      reason: "branch_missing",
      reasons: [{ details: { branch: "develop" } }],
    });
    await push(board, "feature/other");
    expect(await reasonsOf(board, number)).toEqual(["branch_missing"]);
    await push(board, "develop");
    await clearedOf(board, number);
    expect(await clearedWhen(board.api, "promotion_blocked")).toEqual([]);
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    expect(await headOf(board, "web", branch)).toBe(await headOf(board, "web", "develop"));
  });

  it("frees the cards that are to be merged into it, and the hotfixes that start there", async () => {
    const { board, staging } = await twoTargets(world);
    const flow = await readFlow(board);
    const aimed = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, rule: { type: "merge", into: "live" } } : stage,
    );
    await putFlow(board, { ...flow, stages: aimed });
    const { number } = await openCard(world, board);
    expect((await board.api.move(number, staging)).status).toBe(200);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    const hotfix = await board.api.card({ hotfix: true });
    expect((await board.api.move(hotfix.number, board.stages["In progress"])).status).toBe(409);
    expect(await itemsOf(board.api, "promotion_blocked")).toHaveLength(2);
    await push(board, "live");
    await clearedOf(board, number);
    await clearedOf(board, hotfix.number);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([
      { targetBranch: "live" },
    ]);
  });

  it("leaves what stands in the way in another repository", async () => {
    const board = await aimedAtNothing({ repositories: ["web", "api"] });
    await told["is told of"](board, "develop", "api");
    const { number } = await openCard(world, board, ["api"]);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    const { web = "", api = "" } = board.repositories;
    await board.api.patch(`/v1/cards/${number}`, { repositoryIds: [web, api] });
    const status = (state: string, sha: string | null) =>
      board.person("ada", "POST", `/repos/${board.owner}/api/statuses/${sha}`, { state, context: "ci" });
    await status("failure", await headOf(board, "api", branch));
    await settled(world);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await reasonsOf(board, number)).toEqual(["checks_failing", "branch_missing"]);
    await push(board, "develop");
    await board.api.cardWhen(number, ({ blocked }) => blocked?.reasons[1]?.reason !== "branch_missing");
    expect(await reasonsOf(board, number)).toEqual(["checks_failing", "nothing_to_merge"]);
  });

  it("that was deleted, with the pull requests into it closed, says of them that they are", async () => {
    const board = await aimedAtNothing();
    await told["is told of"](board, "develop");
    const { number } = await openCard(world, board);
    await deleteBranch(board, "develop");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "closed");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await blockedOf(board, number)).toMatchObject({ reason: "branch_missing" });
    await push(board, "develop");
    await board.api.cardWhen(number, ({ blocked }) => blocked?.reason === "pull_request_closed");
    expect(await reopen(board, 1)).toMatchObject({ status: 200 });
    await clearedOf(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });
});

/** What a push by git, and all it sets off, asks of the forge. */
const callsOfPush = (board: TestBoard, branch: string, file: string): Promise<string[]> =>
  callsOf(world, async () => {
    await pushTo(board, branch, file);
    await rechecked(world);
  });

it("a push to a branch that nobody waits for asks the forge nothing, whatever cards wait for", async () => {
  const board = await aimedAtNothing();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  expect(await callsOfPush(board, "feature/other", "other.txt")).toEqual([]);
  expect(await callsOfPush(board, "main", "main.txt")).toEqual([]);
  expect(await callsOfPush(board, "develop", "develop.txt")).toEqual(["Inspect"]);
  await clearedOf(board, number);
  expect(await callsOfPush(board, "develop", "more.txt")).toEqual([]);
});

it("a branch that the forge missed without naming it is any that the flow asks for", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  await rechecked(world);
  world.forge.control.faults.add({
    match: { method: "PUT", path: "/repositories/*/pulls/*/merge*" },
    fault: { kind: "answer", status: 422, body: { message: "Reference does not exist" } },
    times: 1,
  });
  expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
    reason: "branch_missing",
    reasons: [{ details: {} }],
  });
  expect(await callsOfPush(board, "feature/other", "other.txt")).toEqual([]);
  expect(await reasonsOf(board, number)).toEqual(["branch_missing"]);
  await pushTo(board, "main", "main.txt");
  await clearedOf(board, number);
});

it("a card for whose branch every name is taken stays refused for that when its trunk is pushed to", async () => {
  const board = await world.board();
  const { number } = await board.api.card();
  const sha = await world.forge.commit(`${board.owner}/web`, "theirs", { "theirs.txt": "theirs\n" });
  for (let name = 1; name <= 20; name++) {
    const ref = `refs/heads/card/${number}-a-card${name === 1 ? "" : `-${name}`}`;
    await board.person("ada", "POST", `/repos/${board.owner}/web/git/refs`, { ref, sha });
  }
  await settled(world);
  const refused = await board.api.move(number, board.stages["In progress"]);
  expect(refused.body.message).toContain("Every name");
  await pushTo(board, "main", "main.txt");
  await rechecked(world);
  expect((await blockedOf(board, number))?.message).toBe(refused.body.message);
});
