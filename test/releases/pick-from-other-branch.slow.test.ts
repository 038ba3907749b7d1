import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import { cardInReview, headOf } from "../support/stories/merged-card.ts";
import { frozenRelease, pick } from "../support/stories/releases.ts";
import { pullPath } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A card that ada merged into `side`, picked into a frozen release. */
async function pickedFromSide(): Promise<{ board: TestBoard; number: number; releaseId: string }> {
  const board = await world.board();
  const releaseId = await frozenRelease(board.api, "1.0");
  await world.forge.commit(`${board.owner}/web`, "side", { "side.txt": "side\n" });
  const number = await cardInReview(world, board, { web: { "hello.txt": "hello\n" } });
  await board.person("ada", "PATCH", pullPath(board, 1), { base: "side" });
  await board.person("ada", "PUT", `${pullPath(board, 1)}/merge`);
  // Soon the card has a new pull request into `main`.
  await board.api.eventWhen(number, ({ kind }) => kind === "pull_request_merged");
  const picked = await pick(board.api, releaseId, number);
  if (picked.status !== 200) throw new Error(`the card was not picked: ${picked.text}`);
  return { board, number, releaseId };
}

describe("a card picked from a branch that releases do not start from", () => {
  // Contract: Inbox: `backmerge_open`: a branch lacks the commits of a hotfix or pick
  it("is in the inbox until the releases' branch has its commits", async () => {
    const { board, number, releaseId } = await pickedFromSide();
    expect(await itemWhen(board.api, "backmerge_open")).toMatchObject({
      detail: "Picked into release 1.0 and missing from main.",
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: {
        targetBranch: "main",
        prNumber: null,
        branchName: null,
        sha: await headOf(board, "web", "side"),
        releaseId,
      },
    });
    await world.forge.commit(`${board.owner}/web`, "main", { "other.txt": "other\n" });
    await allProcessed(world);
    expect(await itemsOf(board.api, "backmerge_open")).toHaveLength(1);
    const clone = await board.clone();
    await clone.git("merge", "-q", "--no-edit", "origin/side");
    await clone.push();
    await clone.remove();
    expect(await clearedWhen(board.api, "backmerge_open")).toEqual([]);
    const open = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=open`);
    expect(open.body).toEqual([]);
  });

  it("leaves the inbox when a move merges it into that branch", async () => {
    const { board, number } = await pickedFromSide();
    await itemWhen(board.api, "backmerge_open");
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ targetBranch: "main" }] } });
    expect(await itemsOf(board.api, "backmerge_open")).toEqual([]);
    const { db } = world.service.deps;
    const cleared = await eventually(
      () => db("backmerges").whereNotNull("cleared_at"),
      ({ length }) => length === 2,
    );
    expect(cleared).toHaveLength(2);
  });
});
