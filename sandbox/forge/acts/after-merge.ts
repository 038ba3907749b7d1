import type { ForgeContext } from "../context.ts";
import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { applyEdit } from "./edit-pull-request.ts";
import { changeRefs } from "./follow-ref-changes.ts";
import { mayRewrite } from "./protection.ts";

/**
 * Deletes a merged head where the repository wants that; pull requests that aimed at it now aim where it went.
 * Call it within `exclusively`.
 */
export async function deleteHeadAfterMerge(
  forge: ForgeContext,
  repository: RepositoryRow,
  merged: PullRequestRow,
  by: AccountRow,
): Promise<void> {
  const isNeeded = merged.headRef === repository.defaultBranch;
  if (!repository.deleteBranchOnMerge || isNeeded || !mayRewrite(forge, repository, merged.headRef, "delete"))
    return;
  for (const pull of forge.state.pullRequests.in(repository.id))
    if (pull.state === "open" && pull.baseRef === merged.headRef)
      await applyEdit(forge, pull, { base: merged.baseRef }, by);
  await changeRefs(forge, repository, by, [
    { name: `refs/heads/${merged.headRef}`, before: merged.headSha, after: null },
  ]);
}
