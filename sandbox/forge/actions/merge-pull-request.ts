import type { ForgeContext } from "../context.ts";
import { commitTree, rebase } from "../git/merge.ts";
import { readRef, updateRef } from "../git/refs.ts";
import type { AccountRow, MergeMethod, PullRequestRow, RepositoryRow } from "../rows.ts";
import { ApiError } from "../server/api-error.ts";
import { signatureOf } from "../world.ts";
import { markMerged } from "./close-pull-request.ts";
import { applyEdit } from "./edit-pull-request.ts";
import { changeRefs, handleRefChanges } from "./change-refs.ts";
import { unmetRule } from "./merge-rules.ts";
import { mergeMessage, squashMessage } from "./merge-message.ts";
import { cachedMergeTree, webFlow } from "./mergeability.ts";
import { isBehind, mayRewrite, missingSignature, protectionOf, violationOf } from "./protection.ts";
import { assertNoChangedWorkflow } from "../queries/workflow-files.ts";

interface MergeOptions {
  readonly by: AccountRow;
  readonly method: MergeMethod;
  /** The expected head; null accepts any. */
  readonly headSha: string | null;
  readonly title: string | null;
  readonly message: string | null;
  /** The merge queue merges, which may bypass the rule that requires it. */
  readonly isFromQueue?: boolean;
  /** The App merges and may not change workflow files. */
  readonly lacksWorkflows?: boolean | undefined;
}

const notAllowed = (message: string) => new ApiError(405, message);
export const HEAD_MODIFIED = "Head branch was modified. Review and try the merge again.";
export const NOT_MERGEABLE = "Pull Request is not mergeable";
export const QUEUE_REQUIRED = violationOf("Changes must be made through the merge queue");

const METHOD_REFUSALS = {
  merge: "Merge commits are not allowed on this repository.",
  squash: "Squash merges are not allowed on this repository.",
  rebase: "Rebase merges are not allowed on this repository.",
} as const;

/** Merges a pull request and returns the merge commit. Throws GitHub's refusals. */
export function mergePullRequest(
  forge: ForgeContext,
  pullId: number,
  options: MergeOptions,
): Promise<{ readonly sha: string }> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    const repository = forge.state.repositories.need(repositoryId);
    const baseTip = await assertMergeable(forge, repository, pull, options);
    const sha = await writeMergeCommits(forge, repository, pull, options, baseTip);
    if (options.lacksWorkflows === true)
      await assertNoChangedWorkflow(forge.git.repository(repositoryId), baseTip, sha);
    await moveBaseBranch(forge, repository, pull, options.by, baseTip, sha);
    return { sha };
  });
}

/** Checks all merge blockers in GitHub's order; returns the base branch's tip. */
async function assertMergeable(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  { by, method, headSha, isFromQueue = false }: MergeOptions,
): Promise<string> {
  if (pull.state === "closed") throw notAllowed(NOT_MERGEABLE);
  if (pull.draft) throw notAllowed("Pull Request is still a draft");
  if (headSha !== null && headSha !== pull.headSha) throw new ApiError(409, HEAD_MODIFIED);
  const refusal = methodRefusal(forge, repository, pull, method);
  if (refusal !== null) throw notAllowed(refusal);
  const repo = forge.git.repository(repository.id);
  const baseTip = await readRef(repo, `refs/heads/${pull.baseRef}`);
  if (baseTip === null) throw notAllowed(NOT_MERGEABLE);
  if (protectionOf(forge, repository, pull.baseRef)?.mergeQueue === true && !isFromQueue)
    throw notAllowed(QUEUE_REQUIRED);
  if ("conflicts" in (await cachedMergeTree(repo, baseTip, pull.headSha))) throw notAllowed(NOT_MERGEABLE);
  const rule = await unmetRule(forge, repository, pull, isFromQueue ? null : by);
  if (rule !== null) throw notAllowed(rule);
  if (await isBehind(forge, repository, pull, baseTip))
    throw notAllowed("Head branch is out of date. Review and try the merge again.");
  return baseTip;
}

/** Why a merge method is not allowed; null if it is. */
export function methodRefusal(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  method: MergeMethod,
): string | null {
  const isLinear = protectionOf(forge, repository, pull.baseRef)?.requiredLinearHistory === true;
  const allowed = {
    merge: repository.allowMergeCommit && !isLinear,
    squash: repository.allowSquashMerge,
    rebase: repository.allowRebaseMerge,
  };
  return allowed[method] ? null : METHOD_REFUSALS[method];
}

/** Writes the commits of the merge without moving a branch; returns the last one. */
async function writeMergeCommits(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  options: MergeOptions,
  baseTip: string,
): Promise<string> {
  const repo = forge.git.repository(repository.id);
  const now = forge.now();
  const committer = webFlow(now);
  if (options.method === "rebase") {
    const rebased = await rebase(repo, baseTip, pull.headSha, signatureOf(options.by, now));
    if ("conflicts" in rebased) throw notAllowed("This branch can't be rebased");
    return rebased.sha;
  }
  const merged = await cachedMergeTree(repo, baseTip, pull.headSha);
  if ("conflicts" in merged) throw notAllowed(NOT_MERGEABLE);
  if (options.method === "squash") {
    const author = signatureOf(forge.state.accounts.need(pull.userId), now);
    const message = await squashMessage(forge, repository, pull, options, baseTip);
    const commit = { tree: merged.tree, parents: [baseTip], message, author, committer };
    return commitTree(repo, { ...commit, isSigned: true });
  }
  const message = mergeMessage(forge, repository, pull, options);
  const author = signatureOf(options.by, now);
  const parents = [baseTip, pull.headSha];
  return commitTree(repo, { tree: merged.tree, parents, message, author, committer, isSigned: true });
}

/** Moves the base branch to the merge, marks the pull request as merged and emits the events. */
async function moveBaseBranch(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow,
  baseTip: string,
  sha: string,
): Promise<void> {
  const repo = forge.git.repository(repository.id);
  const name = `refs/heads/${pull.baseRef}`;
  const unsigned = await missingSignature(forge, repository, pull.baseRef, baseTip, sha);
  if (unsigned !== null) throw notAllowed(unsigned);
  forge.state.pullRequests.update(pull.id, { merging: { sha, byId: by.id, baseSha: baseTip } });
  const moved = await updateRef(repo, name, sha, baseTip);
  if (moved !== "done") {
    forge.state.pullRequests.update(pull.id, { merging: null });
    throw notAllowed("Base branch was modified. Review and try the merge again.");
  }
  const merged = await markMerged(forge, pull, { by, sha, baseSha: baseTip });
  await handleRefChanges(forge, repository.id, by, [{ name, before: baseTip, after: sha }]);
  await deleteHeadAfterMerge(forge, repository, merged, by);
}

/** Deletes the merged branch if the repository is set to, and retargets pull requests into it. */
async function deleteHeadAfterMerge(
  forge: ForgeContext,
  repository: RepositoryRow,
  merged: PullRequestRow,
  by: AccountRow,
): Promise<void> {
  if (!repository.deleteBranchOnMerge || merged.headRef === repository.defaultBranch) return;
  if (!mayRewrite(forge, repository, merged.headRef, "delete")) return;
  for (const pull of forge.state.pullRequests.inGroup(repository.id))
    if (pull.state === "open" && pull.baseRef === merged.headRef)
      await applyEdit(forge, pull, { base: merged.baseRef }, by);
  await changeRefs(forge, repository, by, [
    { name: `refs/heads/${merged.headRef}`, before: merged.headSha, after: null },
  ]);
}
