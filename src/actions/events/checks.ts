import { checksState, type ChecksState } from "../../flow/checks.ts";
import type { CheckReported, ChecksFound } from "../../forge/events.ts";
import {
  deleteEmptySuite,
  differsBetweenSuites,
  lockBranch,
  listBranchesAt,
  listBranchOutcomes,
  listCheckOutcomes,
  saveCheckReport,
} from "../../store/forge/branches.ts";
import type { Trx } from "../../store/db/connect.ts";
import {
  deleteAwaitedReactions,
  listConversationsAt,
  recordAwaitedReaction,
} from "../../store/events/conversations.ts";
import { saveFoundReports } from "../../store/ops/reconciling.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { forgeActor } from "../members/forge-accounts.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import { transaction } from "../../store/db/transaction.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/**
 * Stores check reports on a commit of a card's branch or of a proposal; ignores other commits. A
 * change of a branch's overall state is added to its card's timeline.
 */
export async function handleChecks(
  deps: Deps,
  event: CheckReported | ChecksFound,
  { id: repositoryId }: Repository,
): Promise<void> {
  const { sha, at } = event;
  const names = event.type === "check_reported" ? event.branchNames : [];
  const branches = await listBranchesAt(deps.db, repositoryId, sha, names);
  if (branches.length === 0 && (await listConversationsAt(deps.db, repositoryId, sha)).length === 0) return;
  await transaction(deps.db, async (trx) => {
    const outcomesOf = (cardId: string) => listBranchOutcomes(trx, cardId, repositoryId, sha);
    const states = new Map<string, ChecksState>();
    // The locks put concurrent reports in order; else neither would see the change both make.
    for (const { cardId } of branches) {
      if ((await lockBranch(trx, cardId, repositoryId))?.headSha !== sha) continue;
      states.set(cardId, checksState(await outcomesOf(cardId)));
    }
    const isAmbiguous = await saveReports(trx, repositoryId, event);
    if (isAmbiguous) for (const { cardId } of branches) await schedule(trx, JOBS.compareChecks, { cardId });
    await saveAwaitedReactionToChecks(trx, repositoryId, sha, at);
    for (const { cardId, branchName } of branches) {
      const from = states.get(cardId);
      if (from === undefined) continue;
      const outcomes = await outcomesOf(cardId);
      // The last required check may end without a change of the overall state.
      if (!outcomes.includes("pending")) await recheckRefusedAndArmedMoves(trx, cardId);
      const to = checksState(outcomes);
      if (to === from) continue;
      // Late, because it locks the account's row, which events of all repositories share.
      const actor = await forgeActor(deps, trx, event.sender);
      const data = { branchName, sha, from, to };
      await recordEvents(trx, [{ cardId, kind: "checks_changed", actor, repositoryId, data, at }]);
      await recheckRefusedAndArmedMoves(trx, cardId);
    }
  });
}

/** Whether only GitHub shows which of the reports of one name count. */
async function saveReports(
  trx: Trx,
  repositoryId: string,
  event: CheckReported | ChecksFound,
): Promise<boolean> {
  const { sha } = event;
  if (event.type === "checks_found") {
    await saveFoundReports(trx, { repositoryId, sha }, event.reports, event.askedAt);
    return false;
  }
  const { source, name, suiteId, forgeId, outcome, branchNames } = event;
  const appId = event.appId ?? 0;
  const report = { repositoryId, sha, source, name, appId, suiteId, forgeId, outcome, branchNames };
  const isChanged = await saveCheckReport(trx, report);
  if (source === "check_run") await deleteEmptySuite(trx, report);
  return isChanged && (await differsBetweenSuites(trx, report));
}

/**
 * Records that each conversation with this head waits for the author's next commit while checks fail
 * at it, and deletes that when none fails.
 */
export async function saveAwaitedReactionToChecks(
  trx: Trx,
  repositoryId: string,
  sha: string,
  at: string | null,
): Promise<void> {
  const isFailing = checksState(await listCheckOutcomes(trx, repositoryId, sha)) === "failing";
  const kind = "checks_failing";
  for (const conversation of await listConversationsAt(trx, repositoryId, sha)) {
    if (isFailing) await recordAwaitedReaction(trx, conversation, { kind, subject: sha, askedBy: null, at });
    else await deleteAwaitedReactions(trx, conversation, { kind });
  }
}
