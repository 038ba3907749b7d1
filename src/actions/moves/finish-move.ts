import { notFound } from "../../errors.ts";
import type { Stage } from "../../flow/flow.ts";
import { lockCard } from "../../store/cards/cards.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { finishOperation, type MoveOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { checkForbiddingInstallations } from "../installations/refused-installation.ts";
import { recheckCardsWaitingForRoom } from "../../store/cards/schedule-rechecks.ts";
import { armCard, disarmCard, endArmed } from "./armed-move.ts";
import { refuseCard, type RefusedMove } from "./refuse-card.ts";
import { beingMoved, enterStage, type BegunMove, type RunningMove, type Transition } from "./start-move.ts";
import { runMove } from "./run-move.ts";
import type { MoveOutcome } from "./move-outcome.ts";
import { runOrFree } from "../lease.ts";

interface Merges {
  readonly promoted: MoveOutcome["promoted"];
  /** Left out when empty. */
  readonly alreadyMerged?: MoveOutcome["alreadyMerged"];
}

/** The response to a finished move, or why the card stays where it is. */
export type StoredOutcome =
  | { readonly state: "moved" | "queued" | "waiting"; readonly status: 200 | 202; readonly result: unknown }
  | RefusedMove;

/**
 * Runs a move on GitHub and stores its outcome, with what `record` stores. If that fails, frees the
 * move, so that a retry or a job continues it.
 */
export const runToEnd = <T>(
  deps: Deps,
  { transition, move }: BegunMove,
  record: (trx: Trx, settled: StoredOutcome) => Promise<T>,
): Promise<T> =>
  runOrFree(deps, move, async () =>
    finishMove(deps, transition, move, await runMove(deps, transition, move), record),
  );

/**
 * Stores the outcome of a move, in one transaction with what `record` stores. Returns the result of
 * `record`. Throws busy and stores nothing if the move was taken over.
 */
export async function finishMove<T>(
  deps: Deps,
  transition: Transition,
  move: RunningMove,
  outcome: MoveOutcome,
  record: (trx: Trx, settled: StoredOutcome) => Promise<T>,
): Promise<T> {
  const recorded = await transaction(deps.db, async (trx) =>
    record(trx, await writeOutcome(trx, transition, move, outcome)),
  );
  deps.metrics.moves.inc({ outcome: outcome.state });
  if (outcome.state === "refused")
    for (const { reason } of outcome.reasons) deps.metrics.refusals.inc({ reason });
  return recorded;
}

async function writeOutcome(
  trx: Trx,
  { card: { id: cardId, number }, stage, project }: Transition,
  move: RunningMove,
  outcome: MoveOutcome,
): Promise<StoredOutcome> {
  const card = await lockCard(trx, cardId);
  if (!card) throw notFound(`There is no card ${number} on this board.`);
  const { promoted, alreadyMerged } = outcome;
  const merges: Merges = alreadyMerged.length > 0 ? { promoted, alreadyMerged } : { promoted };
  const end = async (state: Exclude<MoveOperation["state"], "running">, result: unknown): Promise<void> => {
    if (!(await finishOperation(trx, move, state, result))) throw beingMoved(card);
  };
  // Another call may have put the card into the stage by now: then there is nothing to refuse.
  const isThere = card.stageId === stage.id;
  if (outcome.state === "waiting" && !isThere) {
    const armed = await armCard(trx, { cardId, stageId: stage.id }, move, outcome, (state) =>
      end(state, null),
    );
    await recheckIfLimited(trx, stage);
    const task = { number, statusId: card.stageId, blocked: card.blocked };
    return { state: "waiting", status: 202, result: { task, ...merges, armed } };
  }
  if (outcome.state === "refused" && !isThere) {
    await end("refused", null);
    await recheckIfLimited(trx, stage);
    await checkForbiddingInstallations(trx, cardId, outcome.reasons);
    const blocked = await refuseCard(trx, { card, stage }, outcome, move.actorId);
    await recheckWhenEnded(trx, cardId, outcome.endsInMs);
    if (move.isArmed) await disarmCard(trx, cardId, blocked);
    return { state: "refused", blocked, ...merges };
  }
  if (outcome.state === "queued") {
    const task = { number, statusId: card.stageId, blocked: card.blocked };
    const result = { task, ...merges, queued: outcome.queued };
    await end("queued", result);
    await endArmed(trx, cardId, move);
    return { state: "queued", status: 202, result };
  }
  const task = { number, statusId: stage.id, blocked: isThere ? card.blocked : null };
  const result = { task, ...merges };
  await end("done", result);
  await endArmed(trx, cardId, move);
  await enterStage(trx, { card, stage, project }, move.index, move.actorId);
  return { state: "moved", status: 200, result };
}

/** Schedules the recheck of a card whose refusal ends without an event. */
export async function recheckWhenEnded(db: Db, cardId: string, endsInMs: number | null): Promise<void> {
  if (endsInMs !== null)
    await schedule(db, JOBS.recheckBlocked, { cardId }, { delayMs: endsInMs, besides: "later" });
}

/**
 * Rechecks the cards that wait for room in the stage, because an unfinished move counts as a card
 * of its stage.
 */
async function recheckIfLimited(trx: Trx, { id, gates }: Stage): Promise<void> {
  if (gates?.wipLimit) await recheckCardsWaitingForRoom(trx, id);
}
