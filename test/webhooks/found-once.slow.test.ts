/** Changes found by reconciliation are recorded once, even if their webhooks arrive later. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { reconcile } from "../../src/actions/reconcile/reconcile.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { commentsOf } from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  compareWithForge,
  setPullState,
  holdWebhooks,
  merge,
  pullOf,
  push,
  releaseWebhooks,
  review,
  commentOnPull,
  editPullComment,
  eventsOf,
} from "../support/stories/repairing.ts";
import { loginOf } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));

// Fault: B13 A webhook and a comparison report the same change => recorded once
describe("a change found by reconciliation", () => {
  it.each(["kept", "reversed"] as const)(
    "is not recorded again when its webhooks arrive late, in order %s",
    async (order) => {
      const board = await world.board();
      const { number, branchName } = await openCard(world, board);
      const pull = await pullOf(board, number);
      const before = (await board.api.timeline(number)).length;
      holdWebhooks(world);
      await push(board, branchName, "one.txt");
      await push(board, branchName, "two.txt");
      await setPullState(board, pull, "closed");
      await compareWithForge(world);
      await setPullState(board, pull, "open");
      await compareWithForge(world);
      const found = (await board.api.timeline(number)).slice(before).map(({ kind }) => kind);
      expect(found).toEqual(["pushed", "pull_request_closed", "pull_request_reopened"]);
      await releaseWebhooks(world, order);
      const after = (await board.api.timeline(number)).slice(before).map(({ kind }) => kind);
      expect(after).toEqual(found);
      const link = (await board.api.readCard(number)).repositories[0];
      expect(link?.prState).toBe("open");
      // Later changes are recorded again.
      await push(board, branchName, "three.txt");
      await allProcessed(world);
      expect(await eventsOf(board, number, "pushed")).toHaveLength(2);
    },
  );

  it("in comments is not recorded again when its webhooks arrive late", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = await pullOf(board, number);
    holdWebhooks(world);
    await editPullComment(board, await commentOnPull(board, pull, "What is this?"), "What is this for?");
    await review(board, pull, "REQUEST_CHANGES");
    await compareWithForge(world);
    const found = await board.api.timeline(number);
    expect((await commentsOf(board.api, number)).map(({ body }) => body)).toEqual(["What is this for?"]);
    const [reviewed] = await eventsOf(board, number, "review_submitted");
    expect(reviewed).toMatchObject({
      data: { state: "changes_requested" },
      actor: { login: loginOf(board, "ada") },
    });
    await releaseWebhooks(world);
    const untimed = (items: readonly object[]) => items.map((item) => ({ ...item, editedAt: null }));
    expect(untimed(await board.api.timeline(number))).toEqual(untimed(found));
  });

  it("is recorded once by concurrent reconciliations and webhooks", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    const pull = await pullOf(board, number);
    holdWebhooks(world);
    await push(board, branchName, "one.txt");
    await merge(board, pull);
    await world.forge.waitUntilIdle();
    const { deps } = world.service;
    const look = () => reconcile(deps, { minAgeMs: 0, pauseMs: 0 });
    await Promise.all([look(), look(), look(), releaseWebhooks(world), look()]);
    await allProcessed(world);
    expect(await eventsOf(board, number, "pull_request_merged")).toHaveLength(1);
    const after = (await eventsOf(board, number, "pushed")).map(({ data }) => data["after"]);
    expect(new Set(after).size).toBe(after.length);
  });

  it("does not exist if all webhooks arrived", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    await push(board, branchName, "one.txt");
    await allProcessed(world);
    const before = await board.api.timeline(number);
    await compareWithForge(world);
    await compareWithForge(world);
    expect(await board.api.timeline(number)).toEqual(before);
  });
});
