import { z } from "zod";
import { TEMPORARY_BRANCHES } from "../forge/releasing.ts";
import type { Db } from "../store/connect.ts";
import { addJob } from "../store/jobs.ts";
import { isActionRunning } from "../store/release-actions.ts";
import { listReleaseBranches } from "../store/release-branches.ts";
import type { Deps } from "./deps.ts";

export const SWEEP_PICKS = "sweep-picks";

/** By then a forge that could not be reached may be there again. */
const SWEEP_AFTER_MS = 60_000;
const PREFIX = `${TEMPORARY_BRANCHES}pick-`;

/** Where a pick is worked out: the same over all its tries. */
export const temporaryBranchOf = (actionId: string): string => PREFIX + actionId;

/** Asks for what a pick may have left behind to be looked for. */
export const sweepPicksSoon = (db: Db, releaseId: string): Promise<void> =>
  addJob(db, SWEEP_PICKS, { releaseId }, { key: `${SWEEP_PICKS}:${releaseId}`, delayMs: SWEEP_AFTER_MS });

/** Removes the temporary branches of picks that have ended, from the repositories a release has its branch in. */
export async function sweepPicks(deps: Deps, releaseId: string): Promise<void> {
  for (const { ref } of await listReleaseBranches(deps.db, releaseId)) {
    if (!ref) continue;
    for (const { branchName, sha } of await deps.forge.temporaryBranches(ref)) {
      const action = z.uuid().safeParse(branchName.slice(PREFIX.length));
      const isOurs = branchName.startsWith(PREFIX) && action.success;
      if (!isOurs || (await isActionRunning(deps.db, action.data))) continue;
      await deps.forge.deleteBranch(ref, branchName, sha);
    }
  }
}
