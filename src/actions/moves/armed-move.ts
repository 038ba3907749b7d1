import { hasSameHeads, type Disarming } from "../../flow/readiness.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import {
  deleteArmed,
  findArmed,
  insertArmed,
  readArmed,
  saveWaitingFor,
  type ArmedMove,
  type ShownArmed,
} from "../../store/cards/armed-moves.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordChange } from "../../store/events/feed.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import { deleteInboxItems, upsertInboxItem } from "../../store/inbox/stored-items.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import type { MoveOperation, MoveTerms } from "../../store/ops/operations.ts";
import type { MoveOutcome } from "./move-outcome.ts";

/** Causes that a caller requested. They need no inbox item. */
const REQUESTED: ReadonlySet<Disarming["reason"]> = new Set([
  "cancelled",
  "replaced",
  "moved",
  "card_deleted",
]);

export const MOVED: Disarming = { reason: "moved", message: "Another call moved the card." };
export const STAGE_CHANGED: Disarming = {
  reason: "flow_changed",
  message: "The flow has changed: the stage was removed, or it merges into another branch or not at all.",
};
export const EXPIRED: Disarming = {
  reason: "expired",
  message: "The move was not ready before it expired. Arm it again.",
};
const REPLACED: Disarming = { reason: "replaced", message: "Another move of the card was armed." };

/**
 * Disarms a card's move and records an event. Adds an inbox item unless a caller requested it.
 * `byUserId` is that caller; by default the user who armed the move. The caller has locked the
 * card. Does nothing if it is disarmed already.
 */
export async function disarm(
  trx: Trx,
  { id: armedId, cardId, workspaceId, projectId, stageId, actorId }: ArmedMove,
  { reason, message }: Disarming,
  byUserId: string = actorId,
): Promise<void> {
  if (!(await deleteArmed(trx, armedId))) return;
  const data = { armedId, statusId: stageId, reason, message };
  if (!REQUESTED.has(reason))
    await upsertInboxItem(trx, {
      workspaceId,
      projectId,
      cardId,
      repositoryId: null,
      kind: "move_disarmed",
      naturalKey: cardId,
      detail: message,
      data,
    });
  const actor = { userId: byUserId, login: null };
  await recordEvents(trx, [{ cardId, kind: "disarmed", actor, data }]);
}

/** Stores what an armed move waits for, with an event if that has changed. */
export async function changeWaitingFor(
  trx: Trx,
  { id, cardId, workspaceId, stageId, actorId }: ArmedMove,
  waitingFor: readonly BlockedReason[],
): Promise<void> {
  if (!(await saveWaitingFor(trx, id, waitingFor))) return;
  const data = { armedId: id, statusId: stageId, waitingFor };
  await recordChange(trx, { workspaceId, userId: actorId }, { kind: "armed_changed", cardId, data });
}

/** Disarms a card's move, if one is armed. */
export async function disarmCard(trx: Trx, cardId: string, why: Disarming, byUserId?: string): Promise<void> {
  const armed = await findArmed(trx, cardId);
  if (armed) await disarm(trx, armed, why, byUserId);
}

/** Deletes the inbox item about a disarmed move of a card that has moved or is armed again. */
export const deleteDisarmedItem = (trx: Trx, cardId: string): Promise<void> =>
  deleteInboxItems(trx, "move_disarmed", cardId);

/** A move whose run has ended. */
type EndedMove = Pick<MoveOperation, "id" | "actorId"> & Pick<MoveTerms, "whenReady">;

/**
 * Lets a move wait that could not run yet. If the same user has armed the same stage and heads before,
 * that move waits on and this one is abandoned. It replaces another armed move of the card. `end` ends
 * the run of this move. The caller has locked the card.
 */
export async function armCard(
  trx: Trx,
  { cardId, stageId }: Pick<MoveOperation, "cardId" | "stageId">,
  { id, actorId, whenReady }: EndedMove,
  { waitingFor, armedWith, endsInMs }: Extract<MoveOutcome, { state: "waiting" }>,
  end: (state: "waiting" | "abandoned") => Promise<void>,
): Promise<ShownArmed> {
  if (!whenReady) throw new Error("a move that must not wait");
  if (endsInMs !== null)
    await schedule(trx, JOBS.inspectArmed, { cardId }, { delayMs: endsInMs, besides: "later" });
  const known = await findArmed(trx, cardId);
  const isSame =
    known !== null &&
    !known.isExpired &&
    known.actorId === actorId &&
    known.stageId === stageId &&
    known.input.whenReady?.onFailingChecks === whenReady.onFailingChecks &&
    hasSameHeads(known.armedWith, armedWith);
  if (isSame || known?.id === id) {
    await end(known.id === id ? "waiting" : "abandoned");
    await changeWaitingFor(trx, known, waitingFor);
    return readArmed(trx, cardId);
  }
  if (known) await disarm(trx, known, known.isExpired ? EXPIRED : REPLACED, actorId);
  await end("waiting");
  await insertArmed(trx, { id, cardId, armedWith, waitingFor, expiresInHours: whenReady.expiresInHours });
  await deleteDisarmedItem(trx, cardId);
  const armed = await readArmed(trx, cardId);
  const { statusId, expiresAt, heads } = armed;
  const data = { armedId: id, statusId, expiresAt, heads };
  await recordEvents(trx, [{ cardId, kind: "armed", actor: { userId: actorId, login: null }, data }]);
  return armed;
}

/** After a move with `whenReady` has run: it is no longer armed, and another armed move of the card is disarmed. */
export async function endArmed(
  trx: Trx,
  cardId: string,
  { id, actorId, whenReady }: EndedMove,
): Promise<void> {
  if (!whenReady) return;
  const armed = await findArmed(trx, cardId);
  if (armed?.id === id) await deleteArmed(trx, id);
  else if (armed) await disarm(trx, armed, MOVED, actorId);
}
