import { checksState, type ChecksState } from "../../flow/checks.ts";
import type { CheckReported, ChecksFound } from "../../forge/events.ts";
import {
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
import { saveFoundReport } from "../../store/ops/reconciling.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { forgeActor } from "../members/forge-accounts.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import { transaction } from "../../store/db/transaction.ts";
import { mayBeArmed } from "../../store/cards/armed-moves.ts";
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
    await saveReports(trx, repositoryId, event);
    await saveAwaitedReactionToChecks(trx, repositoryId, sha, at);
    for (const { cardId, branchName } of branches) {
      const from = states.get(cardId);
      if (from === undefined) continue;
      const outcomes = await outcomesOf(cardId);
      // The last required check may end without a change of the overall state.
      if (!outcomes.includes("pending") && (await mayBeArmed(trx, cardId)))
        await schedule(trx, JOBS.inspectArmed, { cardId });
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

async function saveReports(
  trx: Trx,
  repositoryId: string,
  event: CheckReported | ChecksFound,
): Promise<void> {
  const { sha } = event;
  if (event.type === "check_reported") {
    const { source, name, forgeId, outcome, branchNames } = event;
    const appId = event.appId ?? 0;
    await saveCheckReport(trx, { repositoryId, sha, source, name, appId, forgeId, outcome, branchNames });
    return;
  }
  for (const report of event.reports) {
    await saveFoundReport(trx, { repositoryId, sha, ...report, appId: report.appId ?? 0 }, event.askedAt);
  }
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
