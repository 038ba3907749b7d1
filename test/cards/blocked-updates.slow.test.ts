/** Blockers that only the response to a write shows: they are removed when their cause is gone. */
import { afterEach, describe, expect, it } from "@jest/globals";
import { followAllTrunks } from "../../src/actions/trunks/follow-trunk.ts";
import { syncInstallations } from "../../src/actions/installations/sync-installation.ts";
import { changeRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { acceptPermissions, setGranted } from "../../sandbox/forge/actions/change-installation.ts";
import { enqueuePullRequest } from "../../sandbox/forge/actions/merge-queue.ts";
import { eventually } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { callsOf } from "../support/forge/count-calls.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { onForge, repositoryOf } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { untilRechecked } from "../support/stories/rechecked.ts";
import {
  compareWithForge,
  loseWebhooks,
  merge,
  protect,
  push,
  releaseWebhooks,
  reportStatus,
} from "../support/stories/repairing.ts";
import { branchHas } from "../support/stories/two-targets.ts";
import { writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => releaseWebhooks(world));
afterEach(() => leaveConsistent(world));

const NO_ACCESS = "Resource not accessible by integration";

const reasonsOf = async (board: TestBoard, number: number): Promise<string[]> =>
  ((await board.api.readCard(number)).blocked?.reasons ?? []).map(({ reason }) => reason);
const reasonsWhen = (board: TestBoard, number: number, wanted: readonly string[]) =>
  eventually(
    () => reasonsOf(board, number),
    (reasons) => reasons.join() === wanted.join(),
  );
const untilUnblocked = (board: TestBoard, number: number) =>
  board.api.cardWhen(number, ({ blocked }) => blocked === null);

/** Makes GitHub respond to the next merge with this status and message. */
const failNextMerge = (status: number, message: string): void => {
  world.forge.control.faults.add({
    match: { method: "PUT", path: "/repositories/*/pulls/*/merge*" },
    fault: { kind: "response", status, body: { message } },
    times: 1,
  });
};

/** Changes something on GitHub; without webhooks, a repair job finds the change. */
const changes = {
  "a webhook": async (act: () => Promise<unknown>): Promise<void> => {
    await act();
    await untilRechecked(world);
  },
  "a comparison": async (act: () => Promise<unknown>): Promise<void> => {
    loseWebhooks(world);
    await act();
    await world.forge.waitUntilIdle();
    await syncInstallations(world.service.deps);
    await followAllTrunks(world.service.deps);
    world.forge.control.webhooks.clear();
  },
};

describe.each(["a webhook", "a comparison"] as const)(
  "a card blocked by `not_permitted`, after %s,",
  (how) => {
    // Contract: Moves: `blocked` returns to `null` when the card can move
    it("keeps only its other blockers when the permission is granted", async () => {
      const board = await world.board();
      const { number, heads } = await openCard(world, board);
      await untilRechecked(world);
      const { context, by, installation } = onForge(world, board);
      const { workflows: _left, ...fewer } = installation.permissions;
      acceptPermissions(context, installation, by, fewer);
      await untilRechecked(world);
      failNextMerge(403, NO_ACCESS);
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused.body).toMatchObject({ message: NO_ACCESS, blocked: { reason: "not_permitted" } });
      await reportStatus(board, heads["web"], "failure");
      await reasonsWhen(board, number, ["not_permitted", "checks_failing"]);
      await changes[how](async () => acceptPermissions(context, installation, by, installation.permissions));
      await reasonsWhen(board, number, ["checks_failing"]);
      await reportStatus(board, heads["web"], "success");
      await untilUnblocked(board, number);
      expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    });

    it("merges a workflow file when the permission for workflows is granted", async () => {
      const board = await world.board();
      const { number, branchName } = await openCard(world, board);
      await push(board, branchName, ".github/workflows/ci.yml", "origin", branchName);
      const { context, by, installation } = onForge(world, board);
      const { workflows: _left, ...fewer } = installation.permissions;
      acceptPermissions(context, installation, by, fewer);
      await untilRechecked(world);
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused.body).toMatchObject({
        message: expect.stringContaining("`.github/workflows/ci.yml` without `workflows` permission"),
        blocked: { reason: "not_permitted" },
      });
      await changes[how](async () => acceptPermissions(context, installation, by, installation.permissions));
      await untilUnblocked(board, number);
      expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    });

    it("keeps only the blockers in other repositories when its repository is granted again", async () => {
      const board = await world.board({ repositories: ["web", "api"] });
      const { number, heads } = await openCard(world, board, ["web", "api"]);
      await reportStatus(board, heads["api"], "failure", "api");
      const { context, by, installation } = onForge(world, board);
      const grant = (isGranted: boolean) =>
        setGranted(context, installation, by, [repositoryOf(world, board, "web")], isGranted);
      grant(false);
      await untilRechecked(world);
      expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
      expect(await reasonsOf(board, number)).toEqual(["checks_failing", "not_permitted"]);
      await changes[how](async () => grant(true));
      await reasonsWhen(board, number, ["checks_failing"]);
    });

    it("is unblocked when the repository is unarchived", async () => {
      const board = await world.board();
      const { context, by } = onForge(world, board);
      const archive = (archived: boolean) =>
        changeRepository(context, repositoryOf(world, board).id, by, { archived });
      const { number } = await openCard(world, board);
      await push(board, "main", "reported.txt");
      await untilRechecked(world);
      const draft = await board.api.card();
      loseWebhooks(world);
      await archive(true);
      await world.forge.waitUntilIdle();
      world.forge.control.webhooks.clear();
      // The push webhook reported the start of its branch, so that the move inspects nothing.
      const refusals = [
        await board.api.move(draft.number, board.stages["In progress"]),
        await board.api.move(number, board.stages.Done),
      ];
      for (const refused of refusals) {
        const message = expect.stringMatching(/archived/i);
        expect(refused).toMatchObject({
          status: 409,
          body: { message, blocked: { reason: "not_permitted" } },
        });
      }
      await changes[how](() => archive(false));
      await untilUnblocked(board, draft.number);
      await untilUnblocked(board, number);
    });
  },
);

describe("a card blocked by the repository's merge settings", () => {
  const refusedCard = async () => {
    const board = await world.board();
    const { number, heads, branchName } = await openCard(world, board);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { allow_merge_commit: false });
    await untilRechecked(world);
    expect((await board.api.move(number, board.stages.Done)).body.blocked).toMatchObject({
      reason: "protected",
      reasons: [{ details: { mergeMethod: "merge" } }],
    });
    return { board, number, branchName, sha: heads["web"] };
  };

  it("stays blocked while checks change, until the flow's merge method changes", async () => {
    const { board, number, sha } = await refusedCard();
    await reportStatus(board, sha, "failure");
    await reasonsWhen(board, number, ["protected", "checks_failing"]);
    await reportStatus(board, sha, "success");
    await reasonsWhen(board, number, ["protected"]);
    const flow = await readFlow(board);
    await putFlow(board, { ...flow, staleAfterDays: 3 });
    await untilRechecked(world);
    expect(await reasonsOf(board, number)).toEqual(["protected"]);
    expect((await putFlow(board, { ...flow, mergeMethod: "squash" })).status).toBe(200);
    await untilUnblocked(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  });

  it("is unblocked after a person merged it", async () => {
    const { board, number } = await refusedCard();
    const path = `/repos/${board.owner}/web/pulls/1/merge`;
    expect(await board.person("grace", "PUT", path, { merge_method: "squash" })).toMatchObject({
      status: 200,
    });
    await untilUnblocked(board, number);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toEqual([]);
  });

  it("is unblocked after a push, because the refusal was for another commit", async () => {
    const { board, number, branchName } = await refusedCard();
    await push(board, branchName, "more.txt");
    expect(await untilUnblocked(board, number)).toMatchObject({ statusId: board.stages["In review"] });
  });
});

it("a card removed from the merge queue is unblocked when a person queues it again, and moves after the merge", async () => {
  const board = await world.board();
  const { number, heads } = await openCard(world, board);
  const name = `${board.owner}/web`;
  world.forge.webUi.setMergeQueue(name, "main", true);
  expect((await board.api.move(number, board.stages.Done)).status).toBe(202);
  await world.forge.webUi.dequeue(name, 1, "CI_FAILURE");
  await reasonsWhen(board, number, ["queue_rejected"]);
  await reportStatus(board, heads["web"], "success");
  await untilRechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["queue_rejected"]);
  const { context, by } = onForge(world, board);
  const pull = context.state.pullRequests.inGroup(repositoryOf(world, board).id)[0];
  await enqueuePullRequest(context, pull?.id ?? 0, by, null);
  await untilUnblocked(board, number);
  await world.forge.webUi.mergeQueued(name, 1);
  await untilRechecked(world);
  expect((await board.api.move(number, board.stages.Done)).body.promoted).toEqual([]);
});

it("a card refused as `head_moved` is unblocked by the webhook of the push", async () => {
  const board = await world.board();
  const { number, branchName } = await openCard(world, board);
  const inspection = holdCalls(world, { operation: "Inspect" });
  const moving = board.api.move(number, board.stages.Done);
  await inspection.arrived();
  world.forge.control.webhooks.add({ fault: { kind: "hold" } });
  await push(board, branchName, "unseen.txt");
  inspection.resume();
  expect(await moving).toMatchObject({ status: 409, body: { blocked: { reason: "head_moved" } } });
  expect(await branchHas(board, "main", "unseen.txt")).toBe(false);
  await releaseWebhooks(world);
  await untilUnblocked(board, number);
});

it("a card that needs a review still needs it after a push", async () => {
  const board = await world.board();
  const { number, branchName } = await openCard(world, board);
  await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
  expect((await board.api.move(number, board.stages.Done)).body.blocked?.reason).toBe("review_required");
  await push(board, branchName, "more.txt");
  await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
  await untilRechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["review_required"]);
  await board.person("grace", "POST", `/repos/${board.owner}/web/pulls/1/reviews`, { event: "APPROVE" });
  await untilUnblocked(board, number);
  expect(await merge(board, 1)).toMatchObject({ status: 200 });
});

it("a conflict that a push to the target resolves is removed by the next comparison at no extra call", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  await writeFile(board, "web", "main", "hello.txt", "another\n");
  await untilRechecked(world);
  const inspections = async (): Promise<number> => {
    const calls = await callsOf(world, async () => {
      await compareWithForge(world);
      await untilRechecked(world);
    });
    return calls.filter((call) => call === "Inspect").length;
  };
  const usual = await inspections();
  expect((await board.api.move(number, board.stages.Done)).body.blocked?.reason).toBe("conflicts");
  await untilRechecked(world);
  expect(await inspections()).toBe(usual);
  expect(await reasonsOf(board, number)).toEqual(["conflicts"]);
  await writeFile(board, "web", "main", "hello.txt", "hello\n");
  await untilRechecked(world);
  expect(await reasonsOf(board, number)).toEqual(["conflicts"]);
  expect(await inspections()).toBe(usual + 1);
  expect(await reasonsOf(board, number)).toEqual([]);
});
