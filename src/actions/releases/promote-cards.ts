import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { Problem } from "../../errors.ts";
import { findCardById } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { MAX_INDEX } from "../../store/cards/moves.ts";
import {
  nextPromotion,
  skipCancelled,
  promotionRequestId,
  deferPromotion,
  finishPromotion,
  type PendingPromotion,
  type PromotionResult,
} from "../../store/releases/release-promotions.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import { transaction } from "../../store/db/transaction.ts";
import { mayEnter } from "../moves/may-enter.ts";
import { lockTransition, startInTransaction, startMove, type BegunMove } from "../moves/start-move.ts";
import type { Deps } from "../deps.ts";
import { runToEnd, type StoredOutcome } from "../moves/finish-move.ts";
import { requireOwned, busyRelease, type RunningOperation } from "./release-operation.ts";

/** How often a card that another call is moving is tried, and the pause before each further try. */
const MAX_TRIES = 5;
const PAUSE_MS = 1_000;

export const promotionInput = z.object({ statusId: z.string() });

/** The parts of a move's response that a promotion shows. */
const movedSchema = z.object({
  task: z.object({ statusId: z.string() }),
  promoted: z.unknown(),
  alreadyMerged: z.unknown().optional(),
});

/**
 * Moves the pending cards of a promotion one by one until the deadline `until`, a value of
 * `performance.now`. True when none is left. After a cancellation, only a card whose move has begun
 * is still moved. Throws `unavailable` when GitHub cannot be reached.
 */
export async function promoteCards(
  deps: Deps,
  release: ReleaseHead,
  operation: RunningOperation,
  until: number,
): Promise<boolean> {
  const { statusId } = promotionInput.parse(operation.input);
  for (;;) {
    const next = await nextPromotion(deps.db, operation.id);
    if (!next) return true;
    if (performance.now() >= until) return false;
    if (next.tries > 0) await sleep(PAUSE_MS);
    await requireOwned(deps, { release, operation });
    if (await skipCancelled(deps.db, operation)) continue;
    await promoteCard(deps, release, operation, next, statusId);
  }
}

async function promoteCard(
  deps: Deps,
  release: ReleaseHead,
  operation: RunningOperation,
  next: PendingPromotion,
  statusId: string,
): Promise<void> {
  const finish = async (trx: Trx, end: PromotionResult): Promise<void> => {
    if (!(await finishPromotion(trx, operation, next.position, end))) throw busyRelease(release, operation);
  };
  try {
    const begun = await beginPromotion(deps, operation, next, statusId, finish);
    if (begun) await runToEnd(deps, begun, (trx, settled) => finish(trx, resultOf(settled)));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.kind === "not_found") {
      await transaction(deps.db, (trx) => finish(trx, skipped("deleted")));
    } else if (error.kind !== "busy") throw error;
    else if (next.tries + 1 < MAX_TRIES) await deferPromotion(deps.db, operation.id, next.position);
    else await transaction(deps.db, (trx) => finish(trx, skipped("being_moved")));
  }
}

/** Begins the move of one card. Null for a card that needs no work on GitHub: it is finished. */
async function beginPromotion(
  deps: Deps,
  promotion: RunningOperation,
  next: PendingPromotion,
  stageId: string,
  finish: (trx: Trx, end: PromotionResult) => Promise<void>,
): Promise<BegunMove | null> {
  const { actorId, isHuman } = promotion;
  const requestId = promotionRequestId(promotion.id, next.position);
  return startInTransaction(deps, async (trx) => {
    const finished = async (end: PromotionResult): Promise<null> => finish(trx, end).then(() => null);
    const card = await findCardById(trx, next.cardId);
    if (!card) return finished(skipped("deleted"));
    const transition = await lockTransition(trx, card, stageId, requestId);
    if (!transition) return finished(skipped("stage_removed"));
    if (!(await mayEnter(trx, actorId, transition))) return finished(skipped("not_permitted"));
    // Moved by an earlier attempt, or by the job that resumed that.
    const { earlier } = transition;
    if (earlier?.state === "done") return finished(promoted(earlier.result));
    if (transition.card.stageId === stageId) return finished(skipped("already_there"));
    const request = { index: MAX_INDEX, actorId, isHuman, requestId };
    const begun = await startMove(deps, trx, transition, request);
    if (begun.state === "refused") return finished(resultOf(begun));
    if (begun.state === "moved") return finished(promoted(begun.result));
    return begun;
  });
}

function promoted(result: unknown): PromotionResult {
  const { task, promoted: merges, alreadyMerged } = movedSchema.parse(result);
  return { state: "promoted", detail: { statusId: task.statusId, promoted: merges, alreadyMerged } };
}

const skipped = (reason: string): PromotionResult => ({ state: "skipped", detail: { reason } });

function resultOf(settled: StoredOutcome): PromotionResult {
  if (settled.state !== "refused") {
    return settled.state === "queued" ? { state: "queued", detail: {} } : promoted(settled.result);
  }
  const { blocked, promoted: merges, alreadyMerged } = settled;
  const { repository, reason, message } = blocked;
  return { state: "refused", detail: { repository, reason, message, promoted: merges, alreadyMerged } };
}
