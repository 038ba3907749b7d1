import type { ForgeContext } from "../context.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { emitPullRequest } from "./emit-events.ts";

const CLOSED = { state: "closed", autoMerge: null, queuedAt: null, queuedById: null } as const;

export async function closePullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
): Promise<PullRequestRow> {
  const now = forge.now();
  const row = forge.state.pullRequests.update(pull.id, { ...CLOSED, closedAt: now, updatedAt: now });
  await emitPullRequest(forge, row, "closed", by);
  return row;
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
    ...CLOSED,
    closedAt: now,
    mergedAt: now,
    mergedById: merged.by.id,
    mergeCommitSha: merged.sha,
    baseSha: merged.baseSha,
    updatedAt: now,
    merging: null,
  });
  await emitPullRequest(forge, row, "closed", merged.by);
  return row;
}
