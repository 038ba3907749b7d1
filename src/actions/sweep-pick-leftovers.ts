import { ForgeUnavailable, type RepositoryRef } from "../forge/forge.ts";
import { listPickedRepositories, listRunning } from "../store/pick-leftovers.ts";
import type { Deps } from "./deps.ts";

export const SWEEP_PICK_LEFTOVERS = "sweep-pick-leftovers";

/** A pick's temporary branch is named after the release action it belongs to. */
const NAME = /\/pick-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Takes away the temporary branches of picks that have ended: the forge may not have answered when they were to be removed. */
export async function sweepPickLeftovers(deps: Deps): Promise<void> {
  for (const repository of await listPickedRepositories(deps.db)) {
    try {
      await sweep(deps, repository);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn(
        { err: error, repository: repository.fullName },
        "leftovers of picks could not be looked for",
      );
    }
  }
}

async function sweep(deps: Deps, repository: RepositoryRef): Promise<void> {
  const found = (await deps.forge.temporaryBranches(repository)).flatMap(({ branchName, sha }) => {
    const actionId = NAME.exec(branchName)?.[1];
    return actionId === undefined ? [] : [{ branchName, sha, actionId }];
  });
  if (found.length === 0) return;
  const running = await listRunning(
    deps.db,
    found.map(({ actionId }) => actionId),
  );
  for (const { branchName, sha, actionId } of found) {
    if (!running.has(actionId)) await deps.forge.deleteBranch(repository, branchName, sha);
  }
}
