import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { Problem } from "../../errors.ts";
import { findCardById } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { MAX_INDEX } from "../../store/ops/operations.ts";
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
import {
  type RunningMove,
  type Transition,
  lockTransition,
  runOrFreeMove,
  startMove,
} from "../moves/start-move.ts";
import { runMove } from "../moves/run-move.ts";
import type { Deps } from "../deps.ts";
import { finishMove, type StoredOutcome } from "../moves/finish-move.ts";
import { requireOwned, busyRelease, type RunningAction } from "./release-action.ts";

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
  action: RunningAction,
  until: number,
): Promise<boolean> {
  const { statusId } = promotionInput.parse(action.input);
  for (;;) {
    const next = await nextPromotion(deps.db, action.id);
    if (!next) return true;
    if (performance.now() >= until) return false;
    if (next.tries > 0) await sleep(PAUSE_MS);
    await requireOwned(deps, { release, action });
    if (await skipCancelled(deps.db, action)) continue;
    await promoteCard(deps, release, action, next, statusId);
  }
}

async function promoteCard(
  deps: Deps,
  release: ReleaseHead,
  action: RunningAction,
  next: PendingPromotion,
  statusId: string,
): Promise<void> {
  const finish = async (trx: Trx, end: PromotionResult): Promise<void> => {
    if (!(await finishPromotion(trx, action, next.position, end))) throw busyRelease(release, action);
  };
  try {
    const begun = await beginPromotion(deps, action, next, statusId, finish);
    if (!begun) return;
    const { transition, move } = begun;
    await runOrFreeMove(deps, move, async () => {
      const outcome = await runMove(deps, transition, move);
      await finishMove(deps, transition, move, outcome, (trx, settled) => finish(trx, resultOf(settled)));
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.kind === "not_found") {
      await transaction(deps.db, (trx) => finish(trx, skipped("deleted")));
    } else if (error.kind !== "busy") throw error;
    else if (next.tries + 1 < MAX_TRIES) await deferPromotion(deps.db, action.id, next.position);
    else await transaction(deps.db, (trx) => finish(trx, skipped("being_moved")));
  }
}

/** Begins the move of one card. Null for a card that needs no work on GitHub: it is finished. */
async function beginPromotion(
  deps: Deps,
  action: RunningAction,
  next: PendingPromotion,
  stageId: string,
  finish: (trx: Trx, end: PromotionResult) => Promise<void>,
): Promise<{ readonly transition: Transition; readonly move: RunningMove } | null> {
  const { actorId, isHuman } = action;
  const requestId = promotionRequestId(action.id, next.position);
  let move: RunningMove | undefined;
  try {
    return await transaction(deps.db, async (trx) => {
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
      ({ move } = begun);
      return { transition, move: begun.move };
    });
  } catch (error) {
    // PostgreSQL may have committed the move without a confirmation.
    if (move) await runOrFreeMove(deps, move, () => Promise.reject(error));
    throw error;
  }
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
