import { z } from "zod";
import { conflict } from "../errors.ts";
import type { Trx } from "../store/db/connect.ts";
import { saveProgress } from "../store/releases/release-actions.ts";
import {
  listReleaseBranches,
  removeReleaseBranches,
  type ReleaseBranch,
} from "../store/releases/release-branches.ts";
import { unfreezeScope, type ReleaseHead } from "../store/releases/releases.ts";
import { underWay } from "./begin-release-action.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";
import { actOnRelease, requireOurs, type ReleaseContext, type ReleaseOutcome } from "./release-action.ts";

/**
 * Unfreezes a release: its branches are removed, all of them or none. Throws `conflict` when anything was picked or pushed onto one. Answers
 * with the release; one that is not frozen stays as it is.
 */
export const unfreezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredAnswer> =>
  actOnRelease(deps, write, release, { kind: "unfreeze", input: {} }, carryOutUnfreeze, { isNeeded });

async function isNeeded(trx: Trx, release: ReleaseHead): Promise<boolean> {
  const branches = await listReleaseBranches(trx, release.id);
  const picked = branches.find(({ headSha, cutSha }) => headSha !== null && headSha !== cutSha);
  if (picked) throw conflict(hasMore(picked));
  return release.frozenAt !== null || branches.length > 0;
}

const hasMore = ({ branchName, fullName }: ReleaseBranch): string =>
  `The branch ${branchName} in ${fullName} has commits that were picked or pushed onto it, so it is not removed. The release stays frozen.`;

/** Whether branches are being removed: those that are gone then are gone by us. */
const progressOf = z.object({ isRemoving: z.boolean().default(false) });

export async function carryOutUnfreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, action } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const moved = await findMoved(deps, branches);
  if (moved) return putBack(deps, context, branches, moved, progressOf.parse(action.progress).isRemoving);
  if (!(await saveProgress(deps.db, action, { isRemoving: true }))) throw underWay(release, action);
  for (const branch of branches) {
    if (!branch.ref) continue;
    await requireOurs(deps, context);
    const deleted = await deps.forge.deleteBranch(branch.ref, branch.branchName, branch.cutSha);
    if (!deleted.ok) {
      return putBack(deps, context, branches, `${branch.fullName}: ${deleted.refusal.message}`, true);
    }
    if ("moved" in deleted.value) return putBack(deps, context, branches, hasMore(branch), true);
  }
  return {
    state: "done",
    record: async (trx) => {
      await removeReleaseBranches(
        trx,
        release.id,
        branches.map(({ repositoryId }) => repositoryId),
      );
      await unfreezeScope(trx, release.id);
    },
  };
}

/** Why the branches cannot all be removed, or null. */
async function findMoved(deps: Deps, branches: readonly ReleaseBranch[]): Promise<string | null> {
  for (const branch of branches) {
    if (!branch.ref) {
      return `The App is not installed on the account of ${branch.fullName} any more. Install it again.`;
    }
    const head = await deps.forge.branchHead(branch.ref, branch.branchName);
    if (head !== null && head !== branch.cutSha) return hasMore(branch);
  }
  return null;
}

/** Leaves the branches as they were before: what was removed is cut again. */
async function putBack(
  deps: Deps,
  context: ReleaseContext,
  branches: readonly ReleaseBranch[],
  message: string,
  isRemoving: boolean,
): Promise<ReleaseOutcome> {
  for (const { ref, branchName, cutSha } of isRemoving ? branches : []) {
    if (!ref) continue;
    await requireOurs(deps, context);
    await deps.forge.createBranch(ref, branchName, cutSha);
  }
  return { state: "refused", message };
}
