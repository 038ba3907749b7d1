import {
  hasSameHeads,
  type WorkByRepository,
  type Disarming,
  type ArmingRequest,
} from "../../flow/readiness.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import type { Stage } from "../../flow/flow.ts";
import {
  deleteArmed,
  findArmed,
  insertArmed,
  readArmed,
  saveWaitingFor,
  type ArmedMove,
  type ShownArmed,
} from "../../store/cards/armed-moves.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import { deleteInboxItems, upsertInboxItem } from "../../store/inbox/stored-items.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

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

/** Disarms a card's move, if one is armed. */
export async function disarmCard(trx: Trx, cardId: string, why: Disarming, byUserId?: string): Promise<void> {
  const armed = await findArmed(trx, cardId);
  if (armed) await disarm(trx, armed, why, byUserId);
}

/** Deletes the inbox item about a disarmed move of a card that has moved or is armed again. */
export const deleteDisarmedItem = (trx: Trx, cardId: string): Promise<void> =>
  deleteInboxItems(trx, "move_disarmed", cardId);

/** The fields of a move that arming or disarming needs. */
interface WaitingMove {
  readonly actorId: string;
  readonly isHuman: boolean;
  readonly index: number;
  readonly whenReady: ArmingRequest | null;
}

interface Waiting {
  readonly waitingFor: readonly BlockedReason[];
  readonly armedWith: WorkByRepository;
  readonly endsInMs: number | null;
}

/**
 * Lets a move wait that could not run yet: arms it, or keeps it armed if the same user has armed the
 * same stage and heads before. It replaces another armed move of the card. The caller has locked the
 * card.
 */
export async function armCard(
  trx: Trx,
  { card, stage }: { readonly card: CardHead; readonly stage: Stage },
  { actorId, isHuman, index, whenReady }: WaitingMove,
  { waitingFor, armedWith, endsInMs }: Waiting,
): Promise<ShownArmed> {
  if (!whenReady) throw new Error("a move that must not wait");
  const { id: cardId, workspaceId } = card;
  if (endsInMs !== null)
    await schedule(trx, JOBS.inspectArmed, { cardId }, { delayMs: endsInMs, besides: "later" });
  const known = await findArmed(trx, cardId);
  const isKept =
    known !== null &&
    (known.id === whenReady.armedId ||
      (!known.isExpired &&
        known.actorId === actorId &&
        known.stageId === stage.id &&
        hasSameHeads(known.armedWith, armedWith)));
  if (isKept) {
    await saveWaitingFor(trx, known.id, waitingFor);
    return readArmed(trx, cardId);
  }
  if (known) await disarm(trx, known, known.isExpired ? EXPIRED : REPLACED, actorId);
  const { armedId: id, expiresInHours } = whenReady;
  const move = { id, cardId, workspaceId, stageId: stage.id, index, actorId, isHuman };
  await insertArmed(trx, { ...move, armedWith, waitingFor, expiresInHours });
  await deleteDisarmedItem(trx, cardId);
  const armed = await readArmed(trx, cardId);
  const { statusId, expiresAt, heads } = armed;
  const data = { armedId: id, statusId, expiresAt, heads };
  await recordEvents(trx, [{ cardId, kind: "armed", actor: { userId: actorId, login: null }, data }]);
  return armed;
}

/**
 * After a move with `whenReady` has run: deletes its armed move, or disarms another armed move of
 * the card.
 */
export async function endArmed(trx: Trx, cardId: string, { actorId, whenReady }: WaitingMove): Promise<void> {
  if (!whenReady) return;
  const armed = await findArmed(trx, cardId);
  if (armed?.id === whenReady.armedId) await deleteArmed(trx, armed.id);
  else if (armed) await disarm(trx, armed, MOVED, actorId);
}

/** Disarms a move that was refused when it ran. */
export async function disarmRefused(
  trx: Trx,
  cardId: string,
  { whenReady }: WaitingMove,
  refused: Pick<BlockedReason, "reason" | "message">,
): Promise<void> {
  if (whenReady?.isArmed) await disarmCard(trx, cardId, refused);
}
