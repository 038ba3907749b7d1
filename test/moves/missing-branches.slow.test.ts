/** Cards that were refused because a branch they start from or merge into was missing. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { followAllTrunks } from "../../src/actions/trunks/follow-trunk.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { settled } from "../support/database/database-content.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { clearedWhen, itemsOf } from "../support/inbox.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { headOf } from "../support/stories/merged-card.ts";
import { openCard } from "../support/stories/open-card.ts";
import { untilRechecked } from "../support/stories/rechecked.ts";
import { loseWebhooks, releaseWebhooks, reportStatus } from "../support/stories/repairing.ts";
import { twoTargets } from "../support/stories/two-targets.ts";
import { branchOf, deleteBranch, pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { BoardOptions, TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));

/** A board whose cards start from, and merge into, a branch that does not exist. */
async function boardWithoutTarget(options: BoardOptions = {}): Promise<TestBoard> {
  const board = await world.board(options);
  const flow = await readFlow(board);
  await putFlow(board, withStage(flow, "Done", { rule: { type: "merge", into: "develop" } }));
  return board;
}

const blockedOf = async (board: TestBoard, number: number) => (await board.api.readCard(number)).blocked;
const reasonsOf = async (board: TestBoard, number: number): Promise<string[]> =>
  ((await blockedOf(board, number))?.reasons ?? []).map(({ reason }) => reason);
const untilUnblocked = (board: TestBoard, number: number) =>
  board.api.cardWhen(number, ({ blocked }) => blocked === null);
const reopen = (board: TestBoard, pull: number) =>
  board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/${pull}`, { state: "open" });

/** Pushes a branch; if its webhook is lost, the hourly comparison of the trunks finds it. */
const pushes = {
  "reported by a webhook": async (board: TestBoard, branch: string, repository = "web"): Promise<void> => {
    await pushTo(board, branch, `${branch}.txt`, "ada", repository);
    await untilRechecked(world);
  },
  "found by a comparison": async (board: TestBoard, branch: string, repository = "web"): Promise<void> => {
    loseWebhooks(world);
    await pushTo(board, branch, `${branch}.txt`, "ada", repository);
    await world.forge.waitUntilIdle();
    await followAllTrunks(world.service.deps);
    await untilRechecked(world);
    world.forge.control.webhooks.clear();
  },
};

describe.each(["reported by a webhook", "found by a comparison"] as const)("a branch %s", (how) => {
  const push = pushes[how];

  // Contract: Moves: `blocked` returns to `null` when the card can move
  it("unblocks the cards that start from it", async () => {
    const board = await boardWithoutTarget();
    const { number } = await board.api.card();
    const refused = await board.api.move(number, board.stages["In progress"]);
    expect(refused.body.blocked).toMatchObject({
      reason: "branch_missing",
      reasons: [{ details: { branch: "develop" } }],
    });
    await push(board, "feature/other");
    expect(await reasonsOf(board, number)).toEqual(["branch_missing"]);
    await push(board, "develop");
    await untilUnblocked(board, number);
    expect(await clearedWhen(board.api, "promotion_blocked")).toEqual([]);
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    const branch = await branchOf(board, number);
    expect(await headOf(board, "web", branch)).toBe(await headOf(board, "web", "develop"));
  });

  it("unblocks the cards that merge into it and the hotfixes that start from it", async () => {
    const { board, staging } = await twoTargets(world);
    const flow = await readFlow(board);
    await putFlow(board, withStage(flow, "Done", { rule: { type: "merge", into: "live" } }));
    const { number } = await openCard(world, board);
    expect((await board.api.move(number, staging)).status).toBe(200);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    const hotfix = await board.api.card({ hotfix: true });
    expect((await board.api.move(hotfix.number, board.stages["In progress"])).status).toBe(409);
    expect(await itemsOf(board.api, "promotion_blocked")).toHaveLength(2);
    await push(board, "live");
    await untilUnblocked(board, number);
    await untilUnblocked(board, hotfix.number);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toMatchObject([
      { targetBranch: "live" },
    ]);
  });

  it("keeps the blockers in other repositories", async () => {
    const board = await boardWithoutTarget({ repositories: ["web", "api"] });
    await pushes["reported by a webhook"](board, "develop", "api");
    const { number } = await openCard(world, board, ["api"]);
    const branch = await branchOf(board, number);
    const { web = "", api = "" } = board.repositories;
    await board.api.patch(`/v1/cards/${number}`, { repositoryIds: [web, api] });
    await reportStatus(board, await headOf(board, "api", branch), "failure", "api");
    await settled(world);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await reasonsOf(board, number)).toEqual(["checks_failing", "branch_missing"]);
    await push(board, "develop");
    await board.api.cardWhen(number, ({ blocked }) => blocked?.reasons[1]?.reason !== "branch_missing");
    expect(await reasonsOf(board, number)).toEqual(["checks_failing", "nothing_to_merge"]);
  });

  it("replaces `branch_missing` by `pull_request_closed` where its deletion closed the pull request", async () => {
    const board = await boardWithoutTarget();
    await pushes["reported by a webhook"](board, "develop");
    const { number } = await openCard(world, board);
    await deleteBranch(board, "develop");
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "closed");
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await blockedOf(board, number)).toMatchObject({ reason: "branch_missing" });
    await push(board, "develop");
    await board.api.cardWhen(number, ({ blocked }) => blocked?.reason === "pull_request_closed");
    expect(await reopen(board, 1)).toMatchObject({ status: 200 });
    await untilUnblocked(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });
});

/** The calls to GitHub that result from a push. */
const callsOfPush = (board: TestBoard, branch: string, file: string): Promise<string[]> =>
  callsOf(world, async () => {
    await pushTo(board, branch, file);
    await untilRechecked(world);
  });

it("a push makes no call to GitHub unless a blocked card waits for its branch", async () => {
  const board = await boardWithoutTarget();
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  expect(await callsOfPush(board, "feature/other", "other.txt")).toEqual([]);
  expect(await callsOfPush(board, "main", "main.txt")).toEqual([]);
  expect(await callsOfPush(board, "develop", "develop.txt")).toEqual(["Inspect"]);
  await untilUnblocked(board, number);
  expect(await callsOfPush(board, "develop", "more.txt")).toEqual([]);
});

it("a missing branch that GitHub did not name is any branch of the flow", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  await untilRechecked(world);
  world.forge.control.faults.add({
    match: { method: "PUT", path: "/repositories/*/pulls/*/merge*" },
    fault: { kind: "response", status: 422, body: { message: "Reference does not exist" } },
    times: 1,
  });
  expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
    reason: "branch_missing",
    reasons: [{ details: {} }],
  });
  expect(await callsOfPush(board, "feature/other", "other.txt")).toEqual([]);
  expect(await reasonsOf(board, number)).toEqual(["branch_missing"]);
  await pushTo(board, "main", "main.txt");
  await untilUnblocked(board, number);
});

it("a card whose possible branch names are all taken stays blocked after a push to its trunk", async () => {
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
  await untilRechecked(world);
  expect((await blockedOf(board, number))?.message).toBe(refused.body.message);
});
