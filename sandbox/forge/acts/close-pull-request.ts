import type { ForgeContext } from "../context.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { emitPullRequest } from "./emit-events.ts";

export async function closePullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
): Promise<PullRequestRow> {
  const now = forge.now();
  const closed = forge.state.pullRequests.update(pull.id, {
    state: "closed",
    closedAt: now,
    closedById: by.id,
    updatedAt: now,
    autoMerge: null,
    queuedAt: null,
    queuedById: null,
  });
  await emitPullRequest(forge, closed, "closed", by);
  return closed;
}

interface MergeResult {
  readonly by: AccountRow;
  /** The merge commit on the base branch. */
  readonly sha: string;
  /** The base branch's tip before the merge. */
  readonly baseSha: string;
}

export async function markMerged(
  forge: ForgeContext,
  pull: PullRequestRow,
  merged: MergeResult,
): Promise<PullRequestRow> {
  const now = forge.now();
  const row = forge.state.pullRequests.update(pull.id, {
    state: "closed",
    closedAt: now,
    closedById: merged.by.id,
    mergedAt: now,
    mergedById: merged.by.id,
    mergeCommitSha: merged.sha,
    baseSha: merged.baseSha,
    updatedAt: now,
    autoMerge: null,
    queuedAt: null,
    queuedById: null,
    merging: null,
  });
  await emitPullRequest(forge, row, "closed", merged.by);
  return row;
}
