import { isRefusal, type Blocked, type BlockedReason } from "../../flow/refusal.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import { gateStillRefuses, isGateReason } from "../../flow/gates.ts";
import { finalOf, lacksPullRequest } from "../../flow/decide.ts";
import { areSameReasons, remainingReasons, type RecheckedCard } from "../../flow/remaining-reasons.ts";
import { setBlocked } from "../../store/cards/blocked-cards.ts";
import { findCardById, lockCard, type CardHead } from "../../store/cards/cards.ts";
import { findProject, type Project } from "../../store/cards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import type { Deps } from "../deps.ts";
import { recheckWhenEnded } from "../moves/finish-move.ts";
import { readGateFacts } from "../moves/check-gates.ts";
import { addConflictingFiles } from "../moves/conflicting-files.ts";
import { inspectUntilDecided, LAG_PAUSE_MS, type Inspection } from "../moves/inspect-card.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** The pause before the next check of a card that is being moved, in milliseconds. */
const PAUSE_MS = 500;

/**
 * Inspects a blocked card and removes the reasons that no longer hold. `refusedAt` is the time of a
 * refusal whose missing permission has been granted since; otherwise null.
 */
export async function recheckBlocked(
  deps: Deps,
  cardId: string,
  refusedAt: string | null = null,
): Promise<void> {
  const recheckLater = (delayMs: number): Promise<void> =>
    schedule(deps.db, JOBS.recheckBlocked, { cardId, ...(refusedAt !== null && { refusedAt }) }, { delayMs });
  const moving = await findOpenMove(deps.db, cardId);
  if (moving?.state === "running" && moving.hasLiveOwner) return recheckLater(PAUSE_MS);
  const card = await findCardById(deps.db, cardId);
  const project = card?.blocked && (await findProject(deps.db, card.workspaceId, card.projectId));
  if (!card?.blocked || !project) return;
  const { blocked } = card;
  const stage = stageOf(project.flow, blocked.statusId);
  if (!stage) return changeBlocked(deps, cardId, blocked, []);
  const gateReasons = await remainingGateReasons(deps.db, card, stage, blocked.reasons.filter(isGateReason));
  const others = blocked.reasons.filter((each) => !isGateReason(each));
  if (others.length === 0) {
    if (!areSameReasons(gateReasons, blocked.reasons))
      await changeBlocked(deps, cardId, blocked, gateReasons);
    return;
  }
  const inspection = await inspectUntilDecided(deps, { card, project, stage });
  if (lacksPullRequest(inspection.decision)) return recheckLater(LAG_PAUSE_MS);
  const hasNewPermissions = refusedAt === blocked.at;
  const rechecked = recheckedCard(blocked, project, inspection, hasNewPermissions);
  const final = finalOf(inspection.decision);
  await recheckWhenEnded(deps.db, cardId, final.state === "refuse" ? final.endsInMs : null);
  const remaining = [...gateReasons, ...remainingReasons({ ...blocked, reasons: others }, rechecked)];
  if (areSameReasons(remaining, blocked.reasons)) return;
  await changeBlocked(deps, cardId, blocked, await addConflictingFiles(deps, inspection, remaining));
}

/** Does not call GitHub. */
async function remainingGateReasons(
  db: Db,
  card: CardHead,
  stage: Stage,
  reasons: readonly BlockedReason[],
): Promise<readonly BlockedReason[]> {
  if (reasons.length === 0) return reasons;
  const gates = await readGateFacts(db, card, stage);
  return reasons.filter((each) => gateStillRefuses(each, gates));
}

function recheckedCard(
  blocked: Blocked,
  { flow }: Project,
  { question, decision }: Inspection,
  hasNewPermissions: boolean,
): RecheckedCard {
  const shown = new Map(
    question.repositories.flatMap(({ fullName, facts }) => (isRefusal(facts) ? [] : [[fullName, facts]])),
  );
  return {
    decision,
    headSha: shown.get(blocked.repository)?.headSha,
    shown,
    mergeMethod: flow.mergeMethod,
    hasNewPermissions,
  };
}

async function changeBlocked(
  deps: Deps,
  cardId: string,
  from: Blocked,
  reasons: readonly BlockedReason[],
): Promise<void> {
  const [first] = reasons;
  await transaction(deps.db, async (trx) => {
    const current = await lockCard(trx, cardId);
    // A card that was refused again since is left alone: that refusal is newer than the inspection.
    if (current?.blocked?.at === from.at)
      await setBlocked(trx, cardId, first ? blockedBy(from, first, reasons) : null);
  });
}

const blockedBy = (
  from: Blocked,
  { reason, message, repository }: BlockedReason,
  reasons: readonly BlockedReason[],
): Blocked => ({ ...from, reason, message, repository, reasons });
