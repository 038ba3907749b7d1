/** What was found by comparing with the forge and what webhooks tell late is one thing, told once. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { reconcile } from "../../src/actions/reconcile/reconcile.ts";
import { allWorked } from "../support/forge/deliveries.ts";
import { commentsOf } from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  compared,
  edit,
  hold,
  merge,
  pullOf,
  push,
  released,
  review,
  say,
  sayAnew,
  told,
} from "../support/stories/repairing.ts";
import { loginOf } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => released(world));
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

// Fault: B13 A webhook and a comparison report the same change => recorded once
describe("what was found", () => {
  it.each(["kept", "reversed"] as const)(
    "is not told again when word of it comes late, %s",
    async (order) => {
      const board = await world.board();
      const { number, branchName } = await openCard(world, board);
      const pull = await pullOf(board, number);
      const before = (await board.api.timeline(number)).length;
      hold(world);
      await push(board, branchName, "one.txt");
      await push(board, branchName, "two.txt");
      await edit(board, pull, "closed");
      await compared(world);
      await edit(board, pull, "open");
      await compared(world);
      const found = (await board.api.timeline(number)).slice(before).map(({ kind }) => kind);
      expect(found).toEqual(["pushed", "pull_request_closed", "pull_request_reopened"]);
      await released(world, order);
      const after = (await board.api.timeline(number)).slice(before).map(({ kind }) => kind);
      expect(after).toEqual(found);
      const link = (await board.api.readCard(number)).repositories[0];
      expect(link?.prState).toBe("open");
      // What happens from now on is news again.
      await push(board, branchName, "three.txt");
      await allWorked(world);
      expect(await told(board, number, "pushed")).toHaveLength(2);
    },
  );

  it("is not told again when word of what was said comes late", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const pull = await pullOf(board, number);
    hold(world);
    await sayAnew(board, await say(board, pull, "What is this?"), "What is this for?");
    await review(board, pull, "REQUEST_CHANGES");
    await compared(world);
    const found = await board.api.timeline(number);
    expect((await commentsOf(board.api, number)).map(({ body }) => body)).toEqual(["What is this for?"]);
    const [reviewed] = await told(board, number, "review_submitted");
    expect(reviewed).toMatchObject({
      data: { state: "changes_requested" },
      actor: { login: loginOf(board, "ada") },
    });
    await released(world);
    const untimed = (items: readonly object[]) => items.map((item) => ({ ...item, editedAt: null }));
    expect(untimed(await board.api.timeline(number))).toEqual(untimed(found));
  });

  it("is told once by however many look at once, webhooks among them", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    const pull = await pullOf(board, number);
    hold(world);
    await push(board, branchName, "one.txt");
    await merge(board, pull);
    await world.forge.waitUntilIdle();
    const { deps } = world.service;
    const look = () => reconcile(deps, { quietMs: 0, pauseMs: 0 });
    await Promise.all([look(), look(), look(), released(world), look()]);
    await allWorked(world);
    expect(await told(board, number, "pull_request_merged")).toHaveLength(1);
    const after = (await told(board, number, "pushed")).map(({ data }) => data["after"]);
    expect(new Set(after).size).toBe(after.length);
  });

  it("is nothing where all was told", async () => {
    const board = await world.board();
    const { number, branchName } = await openCard(world, board);
    await push(board, branchName, "one.txt");
    await allWorked(world);
    const before = await board.api.timeline(number);
    await compared(world);
    await compared(world);
    expect(await board.api.timeline(number)).toEqual(before);
  });
});
