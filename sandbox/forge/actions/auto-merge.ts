import type { ForgeContext } from "../context.ts";
import type { AccountRow, AutoMerge, PullRequestRow } from "../rows.ts";
import { ApiError, unprocessable } from "../server/api-error.ts";
import { emitPullRequest } from "./emit-events.ts";
import { HEAD_MODIFIED, mergePullRequest, methodRefusal } from "./merge-pull-request.ts";
import { mergeabilityOf } from "./mergeability.ts";
import { protectionOf } from "./protection.ts";

/** Enables auto-merge on a pull request. Throws GitHub's refusals. */
export function enableAutoMerge(
  forge: ForgeContext,
  pullId: number,
  { headSha, ...autoMerge }: AutoMerge & { readonly headSha: string | null },
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    if (headSha !== null && headSha !== pull.headSha) throw unprocessable(HEAD_MODIFIED);
    await assertAutoMergeAllowed(forge, pull, autoMerge);
    const row = forge.state.pullRequests.update(pullId, { autoMerge, updatedAt: forge.now() });
    const by = forge.state.accounts.need(autoMerge.enabledById);
    await emitPullRequest(forge, row, "auto_merge_enabled", by, { reason: "" });
    return row;
  });
}

/** Like GitHub, allows auto-merge only while something still blocks the merge. */
async function assertAutoMergeAllowed(
  forge: ForgeContext,
  pull: PullRequestRow,
  { mergeMethod }: AutoMerge,
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  if (!repository.allowAutoMerge)
    throw unprocessable("Pull request Auto merge is not allowed for this repository");
  if (pull.state === "closed") throw unprocessable("Pull request Pull request is closed");
  if (pull.draft) throw unprocessable("Pull request Pull request is in draft state");
  if (protectionOf(forge, repository, pull.baseRef) === undefined)
    throw unprocessable("Pull request Protected branch rules not configured for this branch");
  const refusal = methodRefusal(forge, repository, pull, mergeMethod);
  if (refusal !== null) throw unprocessable(refusal);
  const { state } = await mergeabilityOf(forge, repository, pull);
  if (state === "clean" || state === "unstable")
    throw unprocessable(`Pull request Pull request is in ${state} status`);
}

export async function disableAutoMerge(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
): Promise<PullRequestRow> {
  const pull = forge.state.pullRequests.need(pullId);
  if (pull.autoMerge === null) throw unprocessable("Can't disable auto-merge for this pull request.");
  const row = forge.state.pullRequests.update(pullId, { autoMerge: null, updatedAt: forge.now() });
  await emitPullRequest(forge, row, "auto_merge_disabled", by, {
    reason: "Auto-merge was disabled by a user",
  });
  return row;
}

const isWaiting = (pull: PullRequestRow): boolean => pull.state === "open" && pull.autoMerge !== null;

/** Retries the auto-merges of a repository in the background. */
export function scheduleAutoMerges(forge: ForgeContext, repositoryId: number): void {
  if (forge.state.pullRequests.inGroup(repositoryId).some(isWaiting))
    forge.inBackground(() => runAutoMerges(forge, repositoryId));
}

async function runAutoMerges(forge: ForgeContext, repositoryId: number): Promise<void> {
  const waiting = forge.state.pullRequests.inGroup(repositoryId).filter(isWaiting);
  for (const { id, headSha, autoMerge } of waiting) {
    if (autoMerge === null) continue;
    const { enabledById, mergeMethod: method, commitTitle: title, commitMessage: message } = autoMerge;
    const by = forge.state.accounts.need(enabledById);
    try {
      await mergePullRequest(forge, id, { by, method, headSha, title, message });
    } catch (error) {
      // An `ApiError` means the merge is still blocked; the next change retries it.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
