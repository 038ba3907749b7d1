import type { ForgeContext } from "../context.ts";
import { needCommit, subjectOf } from "../git/commits.ts";
import type { GitRepository } from "../git/git.ts";
import { commitTree, mergeTree, type MergedTree } from "../git/merge.ts";
import { readRef } from "../git/refs.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { unprocessable } from "../server/api-error.ts";
import { signatureOf } from "../world.ts";
import { changeRefs } from "./change-refs.ts";
import { webFlow } from "./mergeability.ts";
import { openPullRequest } from "./open-pull-request.ts";

interface RevertOptions {
  readonly by: AccountRow;
  readonly title: string | null;
  readonly body: string | null;
  readonly draft: boolean;
}

/** Opens a pull request that reverts a merged one. Throws GitHub's refusals. */
export async function revertPullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  { by, title, body, draft }: RevertOptions,
): Promise<PullRequestRow> {
  const merge = pull.mergeCommitSha;
  if (pull.mergedAt === null || merge === null) throw unprocessable("Pull request has not been merged.");
  const head = `revert-${pull.number}-${pull.headRef}`;
  await forge.withLock(pull.repositoryId, () => pushRevert(forge, pull, merge, head, by));
  const { ownerId, name } = forge.state.repositories.need(pull.repositoryId);
  const { login } = forge.state.accounts.need(ownerId);
  return openPullRequest(forge, pull.repositoryId, by, {
    title: title ?? `Revert "${pull.title}"`,
    body: body ?? `Reverts ${login}/${name}#${pull.number}`,
    head,
    base: pull.baseRef,
    draft,
    maintainerCanModify: false,
  });
}

async function pushRevert(
  forge: ForgeContext,
  pull: PullRequestRow,
  merge: string,
  head: string,
  by: AccountRow,
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  const repo = forge.git.repository(repository.id);
  const tip = await readRef(repo, `refs/heads/${pull.baseRef}`);
  if (tip === null) throw unprocessable("The base branch of the pull request is gone.");
  const now = forge.now();
  const reverted = await treeWithout(repo, tip, merge, pull.baseSha, webFlow(now));
  if ("conflicts" in reverted) throw unprocessable("The changes could not be reverted automatically.");
  const { message } = await needCommit(repo, merge);
  const sha = await commitTree(repo, {
    tree: reverted.tree,
    parents: [tip],
    message: `Revert "${subjectOf(message)}"\n\nThis reverts commit ${merge}.`,
    author: signatureOf(by, now),
    committer: webFlow(now),
    isSigned: true,
  });
  const result = await changeRefs(forge, repository, by, [
    { name: `refs/heads/${head}`, before: null, after: sha },
  ]);
  if (result !== "done") throw unprocessable(`A branch named ${head} already exists.`);
}

/**
 * The tip's tree without the changes from `before` to `merge`: a merge of tip and `before` with
 * `merge` as the base. The merge-tree of git 2.39 takes no base, so `merge` becomes the only parent
 * of both sides.
 */
async function treeWithout(
  repo: GitRepository,
  tip: string,
  merge: string,
  before: string,
  by: ReturnType<typeof webFlow>,
): Promise<MergedTree> {
  const withMergeAsParent = async (sha: string) => {
    const { tree } = await needCommit(repo, sha);
    return commitTree(repo, { tree, parents: [merge], message: "revert", author: by, committer: by });
  };
  return mergeTree(repo, await withMergeAsParent(tip), await withMergeAsParent(before));
}
