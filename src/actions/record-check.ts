import { checksState } from "../flow/checks.ts";
import type { CheckReported } from "../forge/events.ts";
import { listOutcomes, saveCheckReport, holdBranch, listBranchesAt } from "../store/forge/branches.ts";
import { recordEvents } from "../store/events/timeline.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { knownRepository } from "./known-repository.ts";
import { recheckIfBlocked } from "./recheck-blocked.ts";
import { transaction } from "../store/db/transaction.ts";

/**
 * Keeps what a check or status reported on a card's branch, and tells the card's timeline when that changes the commit's state as a whole.
 * Reports on commits of no card are not kept.
 */
export async function recordCheck(deps: Deps, event: CheckReported): Promise<void> {
  const repository = await knownRepository(deps, event);
  if (!repository) return;
  const branches = await listBranchesAt(deps.db, repository.id, event.sha, event.branchNames);
  if (branches.length === 0) return;
  await transaction(deps.db, async (trx) => {
    // One after the other, or two reports at once would both miss what they change together.
    for (const { cardId } of branches) await holdBranch(trx, cardId, repository.id);
    const before = checksState(await listOutcomes(trx, repository.id, event.sha));
    const { sha, source, name, forgeId, outcome } = event;
    const report = {
      repositoryId: repository.id,
      sha,
      source,
      name,
      appId: event.appId ?? 0,
      forgeId,
      outcome,
    };
    if (!(await saveCheckReport(trx, report))) return;
    const after = checksState(await listOutcomes(trx, repository.id, sha));
    if (after === before) return;
    const actor = await forgeActor(deps, trx, event.sender);
    for (const { cardId, branchName, headSha } of branches) {
      if (headSha !== sha) continue;
      const data = { branchName, sha, from: before, to: after };
      const told = { cardId, kind: "checks_changed", actor, repositoryId: repository.id, data } as const;
      await recordEvents(trx, [{ ...told, at: event.at }]);
      await recheckIfBlocked(trx, cardId);
    }
  });
}
