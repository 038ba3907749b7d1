import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { openCard } from "../support/open-card.ts";
import { kindsOf } from "../support/repositories.ts";
import { branchHas } from "../support/two-targets.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

const web = (board: TestBoard): string => `${board.owner}/web`;
const pullOf = (board: TestBoard, number = 1) => {
  const { state } = world.forge.context;
  const pull = state.pullRequests
    .in(world.forge.repository(web(board)).id)
    .find((each) => each.number === number);
  if (!pull) throw new Error(`no pull request ${number}`);
  return pull;
};

/** Lets something happen right after the forge has answered the move's look, before its next call comes. */
function afterTheLook(act: () => void): void {
  const stop = world.forge.control.observe({
    onAnswer: (call) => {
      if (!call.body.includes("query Inspect")) return;
      stop();
      act();
    },
  });
}

const mergeOrders = (): number => {
  const { routes } = world.forge.control.calls.read();
  return Object.entries(routes)
    .filter(([route]) => /^PUT .*\/merge(-async)?$/.test(route))
    .reduce((sum, [, count]) => sum + count, 0);
};

/** Moved to the end once the word that stands for it has come. */
const movedInTheEnd = (board: TestBoard, number: number) =>
  eventually(
    () => board.api.move(number, board.stages.Done),
    ({ status }) => status === 200,
  );

describe("a repository that changed its rules before the move", () => {
  it.each([
    [
      "does not allow the flow's way of merging",
      { allow_merge_commit: false },
      "protected",
      "Merge commits are not allowed on this repository.",
    ],
    ["is archived", { archived: true }, "not_permitted", "Repository was archived so is read-only."],
  ])(
    "%s: refused in the forge's words, with one order to merge at most",
    async (_, change, reason, words) => {
      const board = await world.board();
      const { number } = await openCard(world, board);
      await board.person("ada", "PATCH", `/repos/${web(board)}`, change);
      await world.forge.settle();
      world.forge.control.calls.reset();
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused).toMatchObject({
        status: 409,
        body: { message: words, promoted: [], blocked: { reason, message: words } },
      });
      expect(mergeOrders()).toBeLessThanOrEqual(1);
      const card = await board.api.readCard(number);
      expect(card).toMatchObject({ statusId: board.stages["In review"], blocked: { message: words } });
      await board.person("ada", "PATCH", `/repos/${web(board)}`, {
        archived: false,
        allow_merge_commit: true,
      });
      expect(await movedInTheEnd(board, number)).toMatchObject({ body: { task: { blocked: null } } });
    },
  );

  it("has no drafts: the pull request is opened ready, and the next one in a single call", async () => {
    const board = await world.board();
    const { id } = world.forge.repository(web(board));
    world.forge.context.state.repositories.update(id, { allowDrafts: false });
    for (const calls of [2, 1]) {
      const { number } = await board.api.card();
      await board.api.move(number, board.stages["In progress"]);
      const clone = await board.clone();
      await clone.checkout((await board.api.readCard(number)).repositories[0]?.branchName ?? "");
      await clone.commit("Work", { [`${number}.txt`]: "work\n" });
      world.forge.control.calls.reset();
      await clone.push();
      await clone.remove();
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "open");
      const { routes } = world.forge.control.calls.read();
      expect(routes["POST /repos/{owner}/{repo}/pulls"]).toBe(calls);
    }
  });

  it("is empty: nothing to start from, until there is a first commit", async () => {
    const board = await world.board();
    const repository = await world.forge.createRepository(board.owner, "new", { files: null });
    const { db } = world.service.deps;
    await db("repositories")
      .where({ id: board.repositories["web"] })
      .update({ forge_id: repository.id, full_name: `${board.owner}/new` });
    const { number } = await board.api.card();
    const key = `empty-${randomUUID()}`;
    const refused = await board.api.move(number, board.stages["In progress"], 0, { key });
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "branch_missing" } } });
    await world.forge.commit(`${board.owner}/new`, "main", { "README.md": "# New\n" });
    expect((await board.api.move(number, board.stages["In progress"], 0, { key })).status).toBe(200);
  });
});

describe("what happens between the look and the merge", () => {
  it("a protection is switched on: refused in the forge's words", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.pages.setMergeQueue(web(board), "main", false);
    const [protection] = world.forge.context.state.protections.in(world.forge.repository(web(board)).id);
    afterTheLook(() =>
      world.forge.context.state.protections.update(protection?.id ?? 0, {
        requiredReviews: { count: 1 } as never,
      }),
    );
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        message: "At least 1 approving review is required by reviewers with write access.",
        blocked: { reason: "review_required" },
      },
    });
  });

  it("a merge queue is switched on: the card waits in it", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    afterTheLook(() => world.forge.pages.setMergeQueue(web(board), "main", true));
    expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
    await world.forge.pages.landQueued(web(board), 1);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  });

  it("somebody closes the pull request: refused, and not merged", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    afterTheLook(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, {
        state: "closed",
        closedAt: world.forge.context.now(),
      });
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "pull_request_closed" } } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
  });

  it("somebody pushes: the new head is not merged unseen", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const forced = await world.forge.commit(web(board), "unrelated", { "unseen.txt": "unseen\n" });
    afterTheLook(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, { headSha: forced });
    });
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "head_moved" } } });
    expect(await branchHas(board, "main", "hello.txt")).toBe(false);
    expect(await branchHas(board, "main", "unseen.txt")).toBe(false);
  });

  it("somebody makes it aim elsewhere: the merge lands where the flow says, not where it aims", async () => {
    const board = await world.board();
    await world.forge.commit(web(board), "develop", { "develop.txt": "develop\n" });
    const { number } = await openCard(world, board);
    afterTheLook(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, { baseRef: "develop" });
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved).toMatchObject({
      status: 200,
      body: { promoted: [{ fullName: web(board), targetBranch: "main", prNumber: 2 }] },
    });
    expect(await branchHas(board, "main", "hello.txt")).toBe(true);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
  });

  it("somebody makes a draft aim elsewhere: seen when it is marked ready", async () => {
    const board = await world.board();
    await world.forge.commit(web(board), "develop", { "develop.txt": "develop\n" });
    const { number } = await openCard(world, board);
    world.forge.context.state.pullRequests.update(pullOf(board).id, { draft: true });
    afterTheLook(() => {
      world.forge.context.state.pullRequests.update(pullOf(board).id, { baseRef: "develop" });
    });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.body.promoted).toMatchObject([{ targetBranch: "main", prNumber: 2 }]);
    expect(await branchHas(board, "develop", "hello.txt")).toBe(false);
  });

  it("the repository is renamed and another takes its name: that one is not touched", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    await board.person("ada", "PATCH", `/repos/${web(board)}`, { name: "site" });
    await world.forge.createRepository(board.owner, "web", { files: { "README.md": "# Another\n" } });
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.status).toBe(200);
    const site = await board.clone("ada", "site");
    expect(await site.git("show", "origin/main:hello.txt")).toBe("hello");
    await site.remove();
    const other = await board.clone("ada", "web");
    expect(await other.git("log", "--format=%s", "--all")).toBe("Initial commit");
    await other.remove();
    expect(moved.body.promoted[0]?.prNumber).toBe(1);
  });
});

describe("access that changes under a move", () => {
  it("a token that was revoked is replaced, and the move goes through", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { state } = world.forge.context;
    const owner = state.accounts.in(board.owner.toLowerCase())[0]?.id ?? 0;
    const installation = state.installations.in(owner)[0]?.id ?? 0;
    afterTheLook(() => world.forge.control.revokeTokens(installation));
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect((await kindsOf(board, number)).filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("a suspended installation refuses, and lets the move through once it is back", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    afterTheLook(() => world.forge.pages.setSuspended(board.owner, true, `ada-${board.owner.slice(4)}`));
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused).toMatchObject({
      status: 409,
      body: { blocked: { reason: "not_permitted", message: "This installation has been suspended" } },
    });
    world.forge.pages.setSuspended(board.owner, false, `ada-${board.owner.slice(4)}`);
    await movedInTheEnd(board, number);
  });
});
