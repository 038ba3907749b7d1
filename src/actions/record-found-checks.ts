import { checksState } from "../flow/checks.ts";
import type { InspectedPullRequest } from "../forge/forge.ts";
import { listOutcomes, holdBranch } from "../store/forge/branches.ts";
import { saveFoundReport, type KnownBranch } from "../store/ops/reconciling.ts";
import { recordEvents } from "../store/events/timeline.ts";
import type { Deps } from "./deps.ts";
import { noteChecks } from "./follow-conversation.ts";
import { forgeActor } from "./forge-actor.ts";
import { recheckIfBlocked } from "./recheck-blocked.ts";
import { transaction } from "../store/db/transaction.ts";

/** Keeps what checks say on a card's branch that nobody told of, and tells its timeline where that changes their state as a whole. */
export async function recordFoundChecks(
  deps: Deps,
  { cardId, repositoryId, branchName }: KnownBranch,
  { headSha: sha, reports, checks }: InspectedPullRequest,
  askedAt: string,
): Promise<void> {
  if (checksState(await listOutcomes(deps.db, repositoryId, sha)) === checks.state) return;
  await transaction(deps.db, async (trx) => {
    const held = await holdBranch(trx, cardId, repositoryId);
    if (held?.headSha !== sha) return;
    const from = checksState(await listOutcomes(trx, repositoryId, sha));
    for (const report of reports) {
      await saveFoundReport(trx, { repositoryId, sha, ...report, appId: report.appId ?? 0 }, askedAt);
    }
    const to = checksState(await listOutcomes(trx, repositoryId, sha));
    if (to === from) return;
    const actor = await forgeActor(deps, trx, null);
    const data = { branchName, sha, from, to };
    await recordEvents(trx, [{ cardId, kind: "checks_changed", actor, repositoryId, data }]);
    await recheckIfBlocked(trx, cardId);
  });
  await noteChecks(deps.db, repositoryId, sha, null);
}
