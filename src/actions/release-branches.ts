import { conflict } from "../errors.ts";
import type { Trx } from "../store/db/connect.ts";
import { listOpenReleaseBranches } from "../store/releases/release-branches.ts";

/**
 * Refuses to let a project part with repositories in which an open release of its has a branch. The project's row is held by the caller: no
 * release is frozen meanwhile.
 */
export async function requireNoReleaseBranches(
  trx: Trx,
  projectId: string,
  repositories: readonly { readonly id: string; readonly fullName: string }[],
): Promise<void> {
  const names = new Map(repositories.map(({ id, fullName }) => [id, fullName]));
  const [branch] = await listOpenReleaseBranches(trx, projectId, [...names.keys()]);
  if (!branch) return;
  throw conflict(
    `The release ${branch.releaseName} has the branch ${branch.branchName} in ${names.get(branch.repositoryId)}. Unfreeze or complete it first.`,
  );
}
