import { setTimeout as sleep } from "node:timers/promises";
import { BRANCHES_PER_CALL } from "../../forge/pull-requests.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { listStaleBranches, type StaleBranch } from "../../store/forge/branch-snapshots.ts";
import { listOrganizationsToCompare } from "../../store/ops/reconciling.ts";
import type { Deps } from "../deps.ts";
import { inspectBranches } from "../inspect-branches.ts";

/** GitHub begins to compute mergeability when it is asked. After this time, it is asked again. */
const PAUSE_MS = 5_000;
/** Newer ones than these are rarely of interest, and fewer cost less. */
const PULL_REQUESTS = 5;

/**
 * Reads the snapshots again that a push, a review or another event has made out of date, so that
 * boards show the present facts. Leaves the reserve of GitHub's limits to moves.
 */
export async function refreshSnapshots(deps: Deps, { pauseMs = PAUSE_MS } = {}): Promise<void> {
  if (!(await refreshAll(deps, pauseMs))) return;
  await sleep(pauseMs);
  await refreshAll(deps, pauseMs);
}

/**
 * One call for each account: two in a minute cost less than 5 % of an hour's limit, however many
 * branches a push to their target concerns. Returns whether anything was out of date.
 */
async function refreshAll(deps: Deps, minAgeMs: number): Promise<boolean> {
  let hasAsked = false;
  for (const { id, isReachable } of await listOrganizationsToCompare(deps.db, null)) {
    if (!isReachable) continue;
    const stale = await listStaleBranches(deps.db, id, { minAgeMs, limit: BRANCHES_PER_CALL });
    if (stale.length === 0) continue;
    hasAsked = true;
    try {
      await refresh(deps, stale);
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn({ err: error, organizationId: id }, "the snapshots of an account could not be refreshed");
    }
  }
  return hasAsked;
}

async function refresh({ db, forge }: Deps, stale: readonly StaleBranch[]): Promise<void> {
  const asked = stale.map(({ cardId, repositoryId, forgeRef: repository, branchName, targetBranch }) => ({
    cardId,
    repositoryId,
    question: { repository, branchName, targetBranch },
  }));
  await inspectBranches({ db, forge: forge.with({ leavesReserve: true }) }, asked, {
    maxPullRequests: PULL_REQUESTS,
    isPartial: true,
  });
}
