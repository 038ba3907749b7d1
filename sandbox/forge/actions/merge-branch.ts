import type { ForgeContext } from "../context.ts";
import { isAncestor } from "../git/history.ts";
import { commitTree } from "../git/merge.ts";
import { readRef } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import type { AccountRow, PullRequestRow } from "../rows.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { signatureOf } from "../world.ts";
import { changeRefs } from "./change-refs.ts";
import { cachedMergeTree, webFlow } from "./mergeability.ts";
import { mayPush, missingSignature } from "./protection.ts";
import { assertNoChangedWorkflow } from "../queries/workflow-files.ts";

interface BranchMerge {
  readonly by: AccountRow;
  readonly base: string;
  /** A branch or a commit. */
  readonly head: string;
  readonly message: string | null;
  /** The App acts and may not change workflow files. */
  readonly lacksWorkflows?: boolean;
}

/** Merges into a branch; null if it already contains the head. Throws GitHub's refusals. */
export function mergeBranch(
  forge: ForgeContext,
  repositoryId: number,
  merge: BranchMerge,
): Promise<string | null> {
  return forge.withLock(repositoryId, () => mergeNow(forge, repositoryId, merge));
}

async function mergeNow(
  forge: ForgeContext,
  repositoryId: number,
  { by, base, head, message, lacksWorkflows = false }: BranchMerge,
): Promise<string | null> {
  const repository = forge.state.repositories.need(repositoryId);
  const repo = forge.git.repository(repositoryId);
  const baseSha = await readRef(repo, `refs/heads/${base}`);
  if (baseSha === null) throw new ApiError(404, "Base does not exist");
  const headSha = await resolveCommit(repo, head);
  if (headSha === null) throw new ApiError(404, "Head does not exist");
  if (!mayPush(forge, repository, base, by))
    throw new ApiError(409, "You're not authorized to push to this branch.");
  if (await isAncestor(repo, headSha, baseSha)) return null;
  const merged = await cachedMergeTree(repo, baseSha, headSha);
  if ("conflicts" in merged) throw new ApiError(409, "Merge conflict");
  const unsigned = await missingSignature(forge, repository, base, baseSha, headSha);
  if (unsigned !== null) throw new ApiError(409, unsigned);
  const now = forge.now();
  const sha = await commitTree(repo, {
    tree: merged.tree,
    parents: [baseSha, headSha],
    message: message ?? `Merge ${head} into ${base}`,
    author: signatureOf(by, now),
    committer: webFlow(now),
    isSigned: true,
  });
  if (lacksWorkflows) await assertNoChangedWorkflow(repo, baseSha, sha);
  const result = await changeRefs(forge, repository, by, [
    { name: `refs/heads/${base}`, before: baseSha, after: sha },
  ]);
  if (result !== "done") throw new ApiError(409, "Base branch was modified. Review and try the merge again.");
  return sha;
}

/** Merges a pull request's base into its head. Throws GitHub's refusals. */
export async function updatePullBranch(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
  expectedHeadSha: string | null,
): Promise<void> {
  if (pull.state === "closed") throw notFound();
  if (expectedHeadSha !== null && expectedHeadSha !== pull.headSha)
    throw unprocessable("expected head sha didn’t match current head ref.");
  const { headRef: base, baseRef: head } = pull;
  const message = `Merge branch '${head}' into ${base}`;
  try {
    const sha = await mergeBranch(forge, pull.repositoryId, { by, base, head, message });
    if (sha === null) throw unprocessable("There are no new commits on the base branch.");
  } catch (error) {
    if (error instanceof ApiError && error.status === 409)
      throw unprocessable(`merge conflict between base and head`);
    throw error;
  }
}
