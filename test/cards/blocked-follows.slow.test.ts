/** What only the forge's answer to an order told: it stands beside what a look shows, and is gone once its cause is. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { followTrunks } from "../../src/actions/reconcile/follow-trunk.ts";
import { syncInstallations } from "../../src/actions/installations/sync-installation.ts";
import { changeRepository } from "../../sandbox/forge/acts/change-repository.ts";
import { acceptPermissions, setGranted } from "../../sandbox/forge/acts/change-installation.ts";
import { enqueuePullRequest } from "../../sandbox/forge/acts/merge-queue.ts";
import { eventually } from "../support/api.ts";
import { keepCalls } from "../support/forge/kept-calls.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { rechecked } from "../support/stories/rechecked.ts";
import { compared, lose, merge, push, released } from "../support/stories/repairing.ts";
import { branchHas } from "../support/stories/two-targets.ts";
import { writeFile } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => released(world));
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

const NO_ACCESS = "Resource not accessible by integration";

const reasonsOf = async (board: TestBoard, number: number): Promise<string[]> =>
  ((await board.api.readCard(number)).blocked?.reasons ?? []).map(({ reason }) => reason);
const reasonsWhen = (board: TestBoard, number: number, wanted: readonly string[]) =>
  eventually(
    () => reasonsOf(board, number),
    (reasons) => reasons.join() === wanted.join(),
  );
const clearedOf = (board: TestBoard, number: number) =>
  board.api.cardWhen(number, ({ blocked }) => blocked === null);
const report = (board: TestBoard, sha: string | undefined, state: "failure" | "success", name = "web") =>
  board.person("ada", "POST", `/repos/${board.owner}/${name}/statuses/${sha}`, { state, context: "ci" });

/** The next merge is answered so. */
const mergesAreAnswered = (status: number, message: string): void => {
  world.forge.control.faults.add({
    match: { method: "PUT", path: "/repositories/*/pulls/*/merge*" },
    fault: { kind: "answer", status, body: { message } },
    times: 1,
  });
};

/** Something the forge tells of; with that lost, what a repair job finds. */
const heard = {
  "told of": async (act: () => Promise<unknown>): Promise<void> => {
    await act();
    await rechecked(world);
  },
  "not told of": async (act: () => Promise<unknown>): Promise<void> => {
    lose(world);
    await act();
    await world.forge.settle();
    await syncInstallations(world.service.deps);
    await followTrunks(world.service.deps);
    world.forge.control.webhooks.clear();
  },
};

describe.each(["told of", "not told of"] as const)("when it is %s, a card that was not permitted", (how) => {
  // Contract: Moves: `blocked` returns to `null` when the card can move
  it("is free once the permission is granted, but for what else stands in its way", async () => {
    const board = await world.board();
    const { number, heads } = await openCard(world, board);
    await rechecked(world);
    const { context, by, installation } = onForge(world, board);
    const { workflows: _left, ...fewer } = installation.permissions;
    acceptPermissions(context, installation, by, fewer);
    await rechecked(world);
    mergesAreAnswered(403, NO_ACCESS);
    const refused = await board.api.move(number, board.stages.Done);
    expect(refused.body).toMatchObject({ message: NO_ACCESS, blocked: { reason: "not_permitted" } });
    await report(board, heads["web"], "failure");
    await reasonsWhen(board, number, ["not_permitted", "checks_failing"]);
    await heard[how](async () => acceptPermissions(context, installation, by, installation.permissions));
    await reasonsWhen(board, number, ["checks_failing"]);
    await report(board, heads["web"], "success");
    await clearedOf(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it("is free once the repository is granted again, but for what stands in its way in another", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number, heads } = await openCard(world, board, ["web", "api"]);
    await report(board, heads["api"], "failure", "api");
    const { context, by, installation } = onForge(world, board);
    const grant = (isGranted: boolean) =>
      setGranted(context, installation, by, [repositoryOf(world, board, "web")], isGranted);
    grant(false);
    await rechecked(world);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    expect(await reasonsOf(board, number)).toEqual(["checks_failing", "not_permitted"]);
    await heard[how](async () => grant(true));
    await reasonsWhen(board, number, ["checks_failing"]);
  });

  it("is free once the repository is out of the archive, also where only an order showed that it was in there", async () => {
    const board = await world.board();
    const { context, by } = onForge(world, board);
    const archive = (archived: boolean) =>
      changeRepository(context, repositoryOf(world, board).id, by, { archived });
    const { number } = await openCard(world, board);
    await push(board, "main", "told.txt");
    await rechecked(world);
    const draft = await board.api.card();
    lose(world);
    await archive(true);
    await world.forge.settle();
    world.forge.control.webhooks.clear();
    // Pushes told where its branch is to be cut, so that the forge is not looked at.
    const refusals = [
      await board.api.move(draft.number, board.stages["In progress"]),
      await board.api.move(number, board.stages.Done),
    ];
    for (const refused of refusals) {
      const message = expect.stringMatching(/archived/i);
      expect(refused).toMatchObject({ status: 409, body: { message, blocked: { reason: "not_permitted" } } });
    }
    await heard[how](() => archive(false));
    await clearedOf(board, draft.number);
    await clearedOf(board, number);
  });
});

describe("a card whose merge the repository's rules do not allow", () => {
  const refusedCard = async () => {
    const board = await world.board();
    const { number, heads, branchName } = await openCard(world, board);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { allow_merge_commit: false });
    await rechecked(world);
    expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
      reason: "protected",
      reasons: [{ details: { mergeMethod: "merge" } }],
    });
    return { board, number, branchName, sha: heads["web"] };
  };

  it("stays so while checks come and go, until the flow merges otherwise", async () => {
    const { board, number, sha } = await refusedCard();
    await report(board, sha, "failure");
    await reasonsWhen(board, number, ["protected", "checks_failing"]);
    await report(board, sha, "success");
    await reasonsWhen(board, number, ["protected"]);
    const flow = await readFlow(board);
    await putFlow(board, { ...flow, staleAfterDays: 3 });
    await rechecked(world);
    expect(await reasonsOf(board, number)).toEqual(["protected"]);
    expect((await putFlow(board, { ...flow, mergeMethod: "squash" })).status).toBe(200);
    await clearedOf(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it("is free once somebody who may has merged it", async () => {
    const { board, number } = await refusedCard();
    const path = `/repos/${board.owner}/web/pulls/1/merge`;
    expect(await board.person("grace", "PUT", path, { merge_method: "squash" })).toMatchObject({
      status: 200,
    });
    await clearedOf(board, number);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toEqual([]);
  });

  it("is free once somebody has pushed: what was refused is not what would be merged", async () => {
    const { board, number, branchName } = await refusedCard();
    await push(board, branchName, "more.txt");
    expect(await clearedOf(board, number)).toMatchObject({ statusId: board.stages["In review"] });
  });
});

it("a card that the merge queue threw out is free once somebody has put it in again, and when that has landed", async () => {
  const board = await world.board();
  const { number, heads } = await openCard(world, board);
  const name = `${board.owner}/web`;
  world.forge.pages.setMergeQueue(name, "main", true);
  expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
  await world.forge.pages.dequeue(name, 1, "CI_FAILURE");
  await reasonsWhen(board, number, ["queue_rejected"]);
  await report(board, heads["web"], "success");
  await rechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["queue_rejected"]);
  const { context, by } = onForge(world, board);
  const pull = context.state.pullRequests.in(repositoryOf(world, board).id)[0];
  await enqueuePullRequest(context, pull?.id ?? 0, by, null);
  await clearedOf(board, number);
  await world.forge.pages.landQueued(name, 1);
  await rechecked(world);
  expect((await board.api.move(number, board.stages.Done)).body.promoted).toEqual([]);
});

it("a card whose branch was pushed to under its merge is free when the push is heard of", async () => {
  const board = await world.board();
  const { number, branchName } = await openCard(world, board);
  const look = keepCalls(world, { operation: "Inspect" });
  const moving = board.api.move(number, board.stages.Done);
  await look.met();
  world.forge.control.webhooks.add({ fault: { kind: "hold" } });
  await push(board, branchName, "unseen.txt");
  look.letGo();
  expect(await moving).toMatchObject({ status: 409, body: { blocked: { reason: "head_moved" } } });
  expect(await branchHas(board, "main", "unseen.txt")).toBe(false);
  await released(world);
  await clearedOf(board, number);
});

it("a review that the target's protection asks for is asked for of what is pushed next, too", async () => {
  const board = await world.board();
  const { number, branchName } = await openCard(world, board);
  const protection = {
    required_status_checks: null,
    enforce_admins: true,
    required_pull_request_reviews: { required_approving_review_count: 1 },
    restrictions: null,
  };
  await board.person("ada", "PUT", `/repos/${board.owner}/web/branches/main/protection`, protection);
  expect((await board.api.move(number, board.stages.Done)).body.blocked?.reason).toBe("review_required");
  await push(board, branchName, "more.txt");
  await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
  await rechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["review_required"]);
  await board.person("grace", "POST", `/repos/${board.owner}/web/pulls/1/reviews`, { event: "APPROVE" });
  await clearedOf(board, number);
  expect(await merge(board, 1)).toMatchObject({ status: 200 });
});

it("a conflict that a push to the target resolves is found to be gone when all is compared, and looked for at no cost", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  await writeFile(board, "web", "main", "hello.txt", "another\n");
  await rechecked(world);
  const looks = async (): Promise<number> => {
    const calls = await callsOf(world, async () => {
      await compared(world);
      await rechecked(world);
    });
    return calls.filter((call) => call === "Inspect").length;
  };
  const usual = await looks();
  expect((await board.api.move(number, board.stages.Done)).body.blocked?.reason).toBe("conflicts");
  await rechecked(world);
  expect(await looks()).toBe(usual);
  expect(await reasonsOf(board, number)).toEqual(["conflicts"]);
  await writeFile(board, "web", "main", "hello.txt", "hello\n");
  await rechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["conflicts"]);
  expect(await looks()).toBe(usual + 1);
  expect(await reasonsOf(board, number)).toEqual([]);
});
