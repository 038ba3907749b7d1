import type { ForgeContext } from "../context.ts";
import { isRefName, readRef } from "../git/refs.ts";
import type { AccountRow } from "../rows.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { changeRepository } from "./change-repository.ts";
import { applyEdit } from "./edit-pull-request.ts";
import { changeRefs } from "./change-refs.ts";

/**
 * Renames a branch and returns its tip. As on GitHub, pull requests into the branch are retargeted
 * and pull requests from it are closed.
 */
export function renameBranch(
  forge: ForgeContext,
  repositoryId: number,
  by: AccountRow,
  from: string,
  to: string,
): Promise<string> {
  return forge.withLock(repositoryId, async () => {
    const repository = forge.state.repositories.need(repositoryId);
    const repo = forge.git.repository(repositoryId);
    const sha = await readRef(repo, `refs/heads/${from}`);
    if (sha === null) throw notFound();
    if (!isRefName(`refs/heads/${to}`)) throw unprocessable(`${to} is not a valid branch name.`);
    const newRef = { name: `refs/heads/${to}`, before: null, after: sha };
    if ((await changeRefs(forge, repository, by, [newRef])) !== "done")
      throw new ApiError(422, "New branch already exists");
    if (repository.defaultBranch === from)
      await changeRepository(forge, repositoryId, by, { defaultBranch: to });
    for (const protection of forge.state.protections.inGroup(repositoryId))
      if (protection.branch === from) forge.state.protections.update(protection.id, { branch: to });
    for (const pull of forge.state.pullRequests.inGroup(repositoryId))
      if (pull.state === "open" && pull.baseRef === from) await applyEdit(forge, pull, { base: to }, by);
    await changeRefs(forge, repository, by, [{ name: `refs/heads/${from}`, before: sha, after: null }]);
    return sha;
  });
}
