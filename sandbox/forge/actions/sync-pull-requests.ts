import type { ForgeContext } from "../context.ts";
import type { GitRepository } from "../git/git.ts";
import { isAncestor } from "../git/history.ts";
import { branchNameOf, readRef, updateRef } from "../git/refs.ts";
import type { RefChange } from "../present/push.ts";
import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { closePullRequest, markMerged } from "./close-pull-request.ts";
import { emitPullRequest, emitReview } from "./emit-events.ts";
import { protectionOf } from "./protection.ts";

/** The ref that keeps a pull request's commits, also after its branch is deleted. */
export const pullHeadRef = (pull: Pick<PullRequestRow, "number">): string => `refs/pull/${pull.number}/head`;

/** Updates the open pull requests from a changed branch, or closes them if it was deleted. */
export async function syncPullsFromBranch(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  change: RefChange,
): Promise<void> {
  const branch = branchNameOf(change.name);
  for (const pull of openPullRequests(forge, repository)) {
    if (pull.headRef !== branch) continue;
    if (change.after === null) await closePullRequest(forge, pull, by);
    else if (change.after !== pull.headSha) await synchronize(forge, repository, pull, change.after, by);
  }
}

async function synchronize(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  after: string,
  by: AccountRow,
): Promise<void> {
  const repo = forge.git.repository(repository.id);
  const baseTip = await readRef(repo, `refs/heads/${pull.baseRef}`);
  const row = forge.state.pullRequests.update(pull.id, {
    headSha: after,
    baseSha: baseTip ?? pull.baseSha,
    updatedAt: forge.now(),
  });
  await updateRef(repo, pullHeadRef(pull), after);
  await emitPullRequest(forge, row, "synchronize", by, { before: pull.headSha, after });
  await dismissStaleReviews(forge, repository, row, by);
  const isEmptied = baseTip !== null && (await isAncestor(repo, after, baseTip));
  if (isEmptied && forge.settings.closesEmptiedPulls) await closePullRequest(forge, row, by);
}

/**
 * Marks open pull requests into a changed branch as merged if the branch now contains their head,
 * or closes them if it was deleted.
 */
export async function syncPullsIntoBranch(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  change: RefChange,
): Promise<void> {
  const branch = branchNameOf(change.name);
  const pulls = openPullRequests(forge, repository).filter((each) => each.baseRef === branch);
  if (pulls.length === 0) return;
  const { before, after } = change;
  if (after === null) {
    for (const pull of pulls) await closePullRequest(forge, pull, by);
    return;
  }
  const repo = forge.git.repository(repository.id);
  const added = await repo.text(["rev-list", after, ...(before === null ? [] : [`^${before}`]), "--"]);
  const addedShas = new Set(added.split("\n"));
  for (const pull of pulls) {
    const isEmptied = before !== null && (await isAncestor(repo, pull.headSha, before));
    if (!addedShas.has(pull.headSha) && !isEmptied) continue;
    const sha = await findMergeCommit(repo, pull.headSha, before, after);
    await markMerged(forge, pull, { by, sha, baseSha: before ?? pull.baseSha });
  }
}

/** The commit that merged `head`: the oldest on the branch's first-parent line that contains it. */
async function findMergeCommit(
  repo: GitRepository,
  head: string,
  before: string | null,
  tip: string,
): Promise<string> {
  const old = before === null ? [] : [`^${before}`];
  const [firstParents, descendants] = await Promise.all([
    repo.text(["rev-list", "--first-parent", "--reverse", tip, ...old, "--"]),
    repo.text(["rev-list", "--ancestry-path", `${head}..${tip}`, "--"]),
  ]);
  const containing = new Set([head, ...descendants.split("\n")]);
  return firstParents.split("\n").find((sha) => containing.has(sha)) ?? tip;
}

const openPullRequests = (forge: ForgeContext, repository: RepositoryRow): PullRequestRow[] =>
  forge.state.pullRequests.inGroup(repository.id).filter((each) => each.state === "open");

/** Dismisses approvals after a push if the base branch's protection requires it. */
async function dismissStaleReviews(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow,
): Promise<void> {
  const protection = protectionOf(forge, repository, pull.baseRef);
  if (protection?.requiredReviews?.dismissStaleReviews !== true) return;
  for (const review of forge.state.reviews.inGroup(pull.id)) {
    if (review.state !== "APPROVED") continue;
    const dismissed = forge.state.reviews.update(review.id, { state: "DISMISSED", updatedAt: forge.now() });
    await emitReview(forge, pull, dismissed, "dismissed", by);
  }
}
