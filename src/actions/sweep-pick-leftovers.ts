import { ForgeUnavailable } from "../forge/forge.ts";
import { pickBranch } from "../forge/releasing.ts";
import {
  forgetPickBranches,
  listPickLeftovers,
  type PickLeftovers,
} from "../store/releases/release-branches.ts";
import type { Deps } from "./deps.ts";

export const SWEEP_PICK_LEFTOVERS = "sweep-pick-leftovers";

/**
 * Takes away the temporary branches of picks that have ended: the forge may not have answered when they were to be removed. Asks the forge
 * nothing where all are known to be gone.
 */
export async function sweepPickLeftovers(deps: Deps): Promise<void> {
  for (const leftovers of await listPickLeftovers(deps.db)) {
    try {
      await sweep(deps, leftovers);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn(
        { err: error, repository: leftovers.ref.fullName },
        "leftovers of picks could not be looked for",
      );
    }
  }
}

async function sweep(deps: Deps, { repositoryId, ref, actionIds }: PickLeftovers): Promise<void> {
  const left = new Map(
    (await deps.forge.temporaryBranches(ref)).map(({ branchName, sha }) => [branchName, sha]),
  );
  const gone: string[] = [];
  for (const actionId of actionIds) {
    const branchName = pickBranch(actionId);
    const sha = left.get(branchName);
    const deletion = sha === undefined ? null : await deps.forge.deleteBranch(ref, branchName, sha);
    if (deletion === null || (deletion.ok && "deleted" in deletion.value)) gone.push(actionId);
  }
  await forgetPickBranches(deps.db, gone, repositoryId);
}
