import { createAccount } from "../app-identity.ts";
import type { ForgeContext } from "../context.ts";
import type { AccountRow, MergeMethod, PullRequestRow } from "../rows.ts";
import { ApiError } from "../server/api-error.ts";
import { emitPullRequest } from "./emit-events.ts";
import { HEAD_MODIFIED, mergePullRequest, NOT_MERGEABLE } from "./merge-pull-request.ts";

/** Puts a pull request into its base branch's merge queue. It stays there until something lands it or throws it out. */
export function enqueuePullRequest(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  headSha: string | null,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.exclusively(repositoryId, async () => {
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

export type DequeueReason =
  | "MANUAL"
  | "MERGE"
  | "MERGE_CONFLICT"
  | "CI_FAILURE"
  | "CI_TIMEOUT"
  | "BRANCH_PROTECTIONS";

/** Throws a pull request out of the queue. */
export function dequeuePullRequest(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  reason: DequeueReason,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.exclusively(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    if (pull.queuedAt === null) return pull;
    const row = forge.state.pullRequests.update(pullId, { queuedAt: null, queuedById: null });
    await emitPullRequest(forge, row, "dequeued", by, { reason });
    return row;
  });
}

const QUEUE_LOGIN = "github-merge-queue[bot]";

/** GitHub merges what is in a queue as a bot of its own, whoever asked for it. */
const queueBot = ({ state, now }: ForgeContext): AccountRow =>
  state.accounts.in(QUEUE_LOGIN)[0] ?? createAccount(state, { login: QUEUE_LOGIN, type: "Bot", now: now() });

/** The queue's turn has come: merges it, or throws it out where git cannot. */
export async function mergeQueued(
  forge: ForgeContext,
  pullId: number,
  method: MergeMethod = "merge",
): Promise<PullRequestRow> {
  const by = queueBot(forge);
  try {
    await mergePullRequest(forge, pullId, {
      by,
      method,
      headSha: null,
      title: null,
      message: null,
      isFromQueue: true,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await dequeuePullRequest(
      forge,
      pullId,
      by,
      error.message === NOT_MERGEABLE ? "MERGE_CONFLICT" : "BRANCH_PROTECTIONS",
    );
  }
  return forge.state.pullRequests.need(pullId);
}
