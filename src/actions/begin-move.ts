import { busy, notFound, type Problem } from "../errors.ts";
import { lockCard, type CardHead } from "../store/cards.ts";
import {
  beginOperation,
  findFinishedOperation,
  findOpenOperation,
  insertOperation,
  settleOperation,
  takeOver,
  type NewOperation,
  type Operation,
} from "../store/operations.ts";
import type { Trx } from "../store/connect.ts";
import type { Deps } from "./deps.ts";
import { persevere } from "./persevere.ts";

/** A move this process holds. */
export interface HeldMove {
  readonly id: string;
  readonly attempt: number;
  readonly actorId: string;
  readonly index: number;
  /** No caller is behind this try: what the forge's queue has thrown out is not put there again. */
  readonly isResumed?: boolean;
  /** The forge had it queued for longer than word of its end takes: that may be lost. */
  readonly isOverdue?: boolean;
  /** No earlier try of it, or of its request, can have merged anything. */
  readonly isFirst?: boolean;
}

export type BegunMove =
  | { readonly state: "held"; readonly move: HeldMove }
  /** An earlier try of the same request got through; this is what it came to. */
  | { readonly state: "finished"; readonly result: unknown };

interface MoveRequest {
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  readonly requestId: string;
}

/**
 * Makes the caller the card's one mover. A move into the same stage that nobody is at work on any more is taken over, one into
 * another stage abandoned; the forge is looked at afresh either way. Throws busy while a live process is moving the card.
 */
export async function beginMove(deps: Deps, card: CardHead, request: MoveRequest): Promise<BegunMove> {
  const begun: HeldMove[] = [];
  const held = (id: string, attempt: number, actorId: string, isFirst = false): BegunMove => {
    const move = { id, attempt, actorId, index: request.index, isFirst };
    begun.push(move);
    return { state: "held", move };
  };
  try {
    const id = deps.newId();
    const fresh = held(id, 1, request.actorId, true);
    if (await beginOperation(deps.db, operationOf(deps, card, request, id))) return fresh;
    return await deps.db.transaction((trx) => beginInSteps(deps, trx, card, request, held));
  } catch (error) {
    // The database may have kept it all the same, and only its word for that was lost.
    for (const move of begun)
      await persevere(deps.log, "a move", () => settleOperation(deps.db, move, "running"));
    throw error;
  }
}

const operationOf = (deps: Deps, card: CardHead, request: MoveRequest, id: string): NewOperation => ({
  id,
  workspaceId: card.workspaceId,
  cardId: card.id,
  holder: deps.instanceId,
  ...request,
});

async function beginInSteps(
  deps: Deps,
  trx: Trx,
  card: CardHead,
  request: MoveRequest,
  held: (id: string, attempt: number, actorId: string) => BegunMove,
): Promise<BegunMove> {
  if (!(await lockCard(trx, card.id))) throw notFound(`There is no card ${card.number} on this board.`);
  const finished = await findFinishedOperation(trx, { cardId: card.id, ...request });
  if (finished) return { state: "finished", result: finished.result };
  const open = await findOpenOperation(trx, card.id);
  if (open) {
    const attempt = await takeOverOrAbandon(deps, trx, card, open, request);
    if (attempt !== null) return held(open.id, attempt, open.actorId);
  }
  const id = deps.newId();
  await insertOperation(trx, operationOf(deps, card, request, id));
  return held(id, 1, request.actorId);
}

/** The attempt this process now holds the operation under, or null once it was abandoned. */
async function takeOverOrAbandon(
  deps: Deps,
  trx: Trx,
  card: CardHead,
  open: Operation,
  request: MoveRequest,
): Promise<number | null> {
  if (open.isHeld || open.stageId !== request.stageId) {
    await abandonMove(trx, card, open);
    return null;
  }
  const taken = await takeOver(trx, open, { holder: deps.instanceId, requestId: request.requestId });
  if (!taken) throw beingMoved(card);
  return taken.attempt;
}

/** Ends a move nobody is at work on, for another to take its place. Throws busy while somebody is, or the forge has it queued. */
export async function abandonMove(trx: Trx, card: CardHead, open: Operation): Promise<void> {
  if (open.isHeld) throw beingMoved(card);
  if (open.state === "queued") {
    throw busy(
      `Card ${card.number} waits in the forge's merge queue. Take it out of the queue there first.`,
      30,
    );
  }
  await settleOperation(trx, open, "abandoned");
}

/** Another call is at work on the card. */
export const beingMoved = (card: { readonly number: number }): Problem =>
  busy(`Card ${card.number} is being moved by another call. Try again in a moment.`, 1);
