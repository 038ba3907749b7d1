import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ForgeContext } from "../context.ts";
import type { AccountRow, MergeMethod, MergeRequestRow, PullRequestRow } from "../rows.ts";
import { ApiError } from "../server/api-error.ts";
import { mergePullRequest, NOT_MERGEABLE, QUEUE_REQUIRED } from "./merge-pull-request.ts";
import { enqueuePullRequest } from "./merge-queue.ts";
import { protectionOf } from "./protection.ts";

interface AsyncMergeOptions {
  readonly by: AccountRow;
  readonly method: MergeMethod;
  readonly action: MergeRequestRow["mergeAction"];
  readonly headSha: string | null;
  readonly title: string | null;
  readonly message: string | null;
  readonly lacksWorkflows: boolean;
}

/** How long GitHub keeps the result of an asynchronous merge. */
const KEPT_MS = 24 * 3_600_000;

export const pendingMerge = (forge: ForgeContext, pull: PullRequestRow): MergeRequestRow | undefined =>
  forge.state.mergeRequests.inGroup(pull.id).find((each) => each.status === "pending");

export function mergeRequestOf(
  forge: ForgeContext,
  pull: PullRequestRow,
  uuid: string,
): MergeRequestRow | undefined {
  const row = forge.state.mergeRequests.inGroup(pull.id).find((each) => each.uuid === uuid);
  return row !== undefined && Date.parse(forge.now()) - Date.parse(row.createdAt) < KEPT_MS ? row : undefined;
}

/** Saves a merge request and runs it in the background. */
export function startAsyncMerge(
  forge: ForgeContext,
  pull: PullRequestRow,
  options: AsyncMergeOptions,
): MergeRequestRow {
  const row = forge.state.mergeRequests.save({
    id: forge.state.newId(),
    uuid: randomUUID(),
    pullRequestId: pull.id,
    requestedById: options.by.id,
    status: "pending",
    mergeMethod: options.method,
    mergeAction: options.action,
    expectedHeadSha: options.headSha ?? pull.headSha,
    commitTitle: options.title,
    commitMessage: options.message,
    lacksWorkflows: options.lacksWorkflows,
    sha: null,
    message: null,
    createdAt: forge.now(),
  });
  runInBackground(forge, row);
  return row;
}

/** Restarts the merges that were pending when the forge stopped. */
export function resumeAsyncMerges(forge: ForgeContext): void {
  for (const row of forge.state.mergeRequests.all())
    if (row.status === "pending") runInBackground(forge, row);
}

function runInBackground(forge: ForgeContext, row: MergeRequestRow): void {
  forge.inBackground(async () => {
    if (!(await waitDelay(forge))) return;
    forge.state.mergeRequests.update(row.id, await run(forge, row));
  });
}

/** How often a pending merge reads the setting, in milliseconds. */
const READ_SETTING_MS = 50;

/** Waits `asyncMergeDelayMs`, which may be changed meanwhile; false if the forge stops first. */
async function waitDelay({ settings, stopping }: ForgeContext): Promise<boolean> {
  const since = performance.now();
  const left = () => since + settings.asyncMergeDelayMs - performance.now();
  do {
    const isOver = await setTimeout(Math.min(left(), READ_SETTING_MS), false, { signal: stopping }).catch(
      () => true,
    );
    if (isOver) return false;
  } while (left() > 0);
  return true;
}

async function run(
  forge: ForgeContext,
  row: MergeRequestRow,
): Promise<Pick<MergeRequestRow, "status"> & Partial<Pick<MergeRequestRow, "sha" | "message">>> {
  const pull = forge.state.pullRequests.need(row.pullRequestId);
  if (pull.mergedAt !== null) return { status: "merged", sha: pull.mergeCommitSha };
  const repository = forge.state.repositories.need(pull.repositoryId);
  const isQueued = protectionOf(forge, repository, pull.baseRef)?.mergeQueue === true;
  const by = forge.state.accounts.need(row.requestedById);
  try {
    if (row.mergeAction === "merge_queue" && !isQueued)
      return { status: "failed", message: "The base branch does not have a merge queue." };
    if (isQueued && row.mergeAction === "direct_merge") return { status: "failed", message: QUEUE_REQUIRED };
    if (isQueued) {
      await enqueuePullRequest(forge, pull.id, by, row.expectedHeadSha);
      return { status: "enqueued" };
    }
    const { mergeMethod: method, expectedHeadSha: headSha, commitTitle: title, commitMessage: message } = row;
    const { lacksWorkflows } = row;
    const options = { by, method, headSha, title, message, lacksWorkflows };
    const { sha } = await mergePullRequest(forge, pull.id, options);
    return { status: "merged", sha };
  } catch (error) {
    if (error instanceof ApiError)
      return { status: "failed", message: failureMessage(forge, pull.id, error.message) };
    forge.log.error({ err: error, pull: pull.number }, "an asynchronous merge failed");
    return { status: "failed", message: "The pull request could not be merged." };
  }
}

function failureMessage(forge: ForgeContext, pullId: number, message: string): string {
  const isOpen = forge.state.pullRequests.need(pullId).state === "open";
  if (message === NOT_MERGEABLE)
    return isOpen ? "Merge conflict: the pull request could not be merged." : "Pull request is closed.";
  return message;
}
