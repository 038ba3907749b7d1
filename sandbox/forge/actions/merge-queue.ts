import { createAccount } from "../app-identity.ts";
import type { ForgeContext } from "../context.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { ApiError } from "../server/api-error.ts";
import { emitPullRequest } from "./emit-events.ts";
import { HEAD_MODIFIED, mergePullRequest, NOT_MERGEABLE } from "./merge-pull-request.ts";

/** Adds a pull request to the merge queue of its base branch. */
export function enqueuePullRequest(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  headSha: string | null,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    if (pull.state === "closed") throw new ApiError(405, NOT_MERGEABLE);
    if (pull.draft) throw new ApiError(405, "Pull Request is still a draft");
    if (headSha !== null && headSha !== pull.headSha) throw new ApiError(409, HEAD_MODIFIED);
    if (pull.queuedAt !== null) return pull;
    const row = forge.state.pullRequests.update(pullId, { queuedAt: forge.now(), queuedById: by.id });
    await emitPullRequest(forge, row, "enqueued", by);
    return row;
  });
}

export const DEQUEUE_REASONS = [
  "MANUAL",
  "MERGE",
  "MERGE_CONFLICT",
  "CI_FAILURE",
  "CI_TIMEOUT",
  "BRANCH_PROTECTIONS",
] as const;
export type DequeueReason = (typeof DEQUEUE_REASONS)[number];

export function dequeuePullRequest(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  reason: DequeueReason,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    if (pull.queuedAt === null) return pull;
    const row = forge.state.pullRequests.update(pullId, { queuedAt: null, queuedById: null });
    await emitPullRequest(forge, row, "dequeued", by, { reason });
    return row;
  });
}

const QUEUE_LOGIN = "github-merge-queue[bot]";

/** GitHub merges queued pull requests as a separate bot. */
const queueBot = ({ state, now }: ForgeContext): AccountRow =>
  state.accounts.inGroup(QUEUE_LOGIN)[0] ??
  createAccount(state, { login: QUEUE_LOGIN, type: "Bot", now: now() });

/** Merges a queued pull request, or removes it from the queue if it cannot be merged. */
export async function mergeQueued(forge: ForgeContext, pullId: number): Promise<PullRequestRow> {
  const by = queueBot(forge);
  try {
    const defaults = { method: "merge", headSha: null, title: null, message: null } as const;
    await mergePullRequest(forge, pullId, { by, ...defaults, isFromQueue: true });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reason = error.message === NOT_MERGEABLE ? "MERGE_CONFLICT" : "BRANCH_PROTECTIONS";
    await dequeuePullRequest(forge, pullId, by, reason);
  }
  return forge.state.pullRequests.need(pullId);
}
