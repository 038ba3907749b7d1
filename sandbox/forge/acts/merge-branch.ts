import type { ForgeContext } from "../context.ts";
import { isAncestor } from "../git/history.ts";
import { commitTree } from "../git/merge.ts";
import { readRef } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { signatureOf } from "../world.ts";
import { changeRefs } from "./follow-ref-changes.ts";
import { cachedMergeTree, webFlow } from "./mergeability.ts";
import { mayPush } from "./protection.ts";

export interface BranchMerge {
  readonly by: AccountRow;
  /** A branch. */
  readonly base: string;
  /** A branch or a commit. */
  readonly head: string;
  readonly message: string | null;
}

/** Merges a branch or commit into a branch; null where the branch already has it all. Throws GitHub's refusals. */
export function mergeBranch(
  forge: ForgeContext,
  repositoryId: number,
  merge: BranchMerge,
): Promise<string | null> {
  return forge.exclusively(repositoryId, () => mergeNow(forge, repositoryId, merge));
}

async function mergeNow(
  forge: ForgeContext,
  repositoryId: number,
  { by, base, head, message }: BranchMerge,
): Promise<string | null> {
  const repository = forge.state.repositories.need(repositoryId);
  const repo = forge.git.repository(repositoryId);
  const baseSha = await readRef(repo, `refs/heads/${base}`);
  if (baseSha === null) throw new ApiError(404, "Base does not exist");
  const headSha = await resolveCommit(repo, head);
  if (headSha === null) throw new ApiError(404, "Head does not exist");
  if (!mayPush(forge, repository, base, by))
    throw new ApiError(409, `${by.login} is not authorized to push to this branch.`);
  if (await isAncestor(repo, headSha, baseSha)) return null;
  const merged = await cachedMergeTree(repo, baseSha, headSha);
  if ("conflicts" in merged) throw new ApiError(409, "Merge conflict");
  const now = forge.now();
  const sha = await commitTree(repo, {
    tree: merged.tree,
    parents: [baseSha, headSha],
    message: message ?? `Merge ${head} into ${base}`,
    author: signatureOf(by, now),
    committer: webFlow(now),
  });
  const result = await changeRefs(forge, repository, by, [
    { name: `refs/heads/${base}`, before: baseSha, after: sha },
  ]);
  if (result !== "done") throw new ApiError(409, "Base branch was modified. Review and try the merge again.");
  return sha;
}

/** Brings a pull request's head up to date with its base by a merge. Throws GitHub's refusals. */
export async function updatePullBranch(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
  expectedHeadSha: string | null,
): Promise<void> {
  if (pull.state === "closed") throw notFound();
  if (expectedHeadSha !== null && expectedHeadSha !== pull.headSha)
    throw unprocessable("expected head sha didn’t match current head ref.");
  const message = `Merge branch '${pull.baseRef}' into ${pull.headRef}`;
  try {
    const made = await mergeBranch(forge, pull.repositoryId, {
      by,
      base: pull.headRef,
      head: pull.baseRef,
      message,
    });
    if (made === null) throw unprocessable("There are no new commits on the base branch.");
  } catch (error) {
    if (error instanceof ApiError && error.status === 409)
      throw unprocessable(`merge conflict between base and head`);
    throw error;
  }
}
