import { busy, notFound, type Problem } from "../../errors.ts";
import { stageOf } from "../../flow/flow.ts";
import { needsGit } from "../../flow/move.ts";
import { setBlocked } from "../../store/cards/blocked-cards.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { placeCard } from "../../store/cards/placing.ts";
import { holdStage, findProject } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import {
  findOpenOperation,
  findOperationOfRequest,
  insertOperation,
  settleOperation,
  takeOver,
  type EarlierOperation,
  type Operation,
} from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { releaseWithRetry } from "../write.ts";
import type { Transition } from "./transition.ts";

/** A move that this process holds. */
export interface HeldMove {
  readonly id: string;
  readonly attempt: number;
  readonly actorId: string;
  readonly index: number;
  /** No caller waits for this attempt: what GitHub's merge queue has removed is not queued again. */
  readonly isResumed?: boolean;
  /** GitHub had it queued for longer than the end of a merge takes to arrive: that event may be lost. */
  readonly isOverdue?: boolean;
}

/** A transition whose card and stage are locked, and everything that decides how its move begins. */
export interface LockedTransition extends Transition {
  readonly linkCount: number;
  /** The card's move that has not ended, or null. */
  readonly open: Operation | null;
  /** How an earlier attempt of the same request to move the card into the stage ended, or null. */
  readonly earlier: EarlierOperation | null;
}

export type BegunMove =
  /** Work on GitHub is left to do, and this process holds the move. */
  | { readonly state: "held"; readonly move: HeldMove }
  /** The card has moved: without Git, or by an earlier attempt of the same request. `result` is the answer. */
  | { readonly state: "moved"; readonly result: unknown };

/**
 * Locks a card and the stage it is to enter until the transaction ends, and reads what its move depends on. While the stage is
 * locked nobody changes the flow, and once the move has begun nobody does until it has ended. Null where the stage is not in
 * the card's flow; throws `not_found` for a deleted card.
 */
export async function lockTransition(
  trx: Trx,
  head: Pick<CardHead, "id" | "workspaceId" | "projectId" | "number">,
  stageId: string,
  requestId: string,
): Promise<LockedTransition | null> {
  const { id: cardId, workspaceId, projectId, number } = head;
  const [card, , project, linkCount, open, earlier] = await allInOrder([
    lockCard(trx, cardId),
    holdStage(trx, stageId),
    findProject(trx, workspaceId, projectId),
    countLinks(trx, cardId),
    findOpenOperation(trx, cardId),
    findOperationOfRequest(trx, { cardId, stageId, requestId }),
  ]);
  if (!card) throw notFound(`There is no card ${number} on this board.`);
  if (!project) throw new Error(`card ${cardId} without its project`);
  const stage = stageOf(project.flow, stageId);
  return stage ? { card, project, stage, linkCount, open, earlier } : null;
}

/**
 * Begins a move in the caller's transaction. A move that needs no Git is placed right away. One that does makes the caller
 * its holder: an unfinished move into the same stage that nobody holds is taken over, one into another stage is abandoned.
 * Throws busy while a live process moves the card.
 */
export async function beginMove(
  deps: Deps,
  trx: Trx,
  transition: LockedTransition,
  request: { readonly index: number; readonly actorId: string; readonly requestId: string },
): Promise<BegunMove> {
  const { card, stage, linkCount, open, earlier } = transition;
  const { index, actorId, requestId } = request;
  if (earlier?.state === "done") return { state: "moved", result: earlier.result };
  if (!needsGit(card.stageId, stage, linkCount)) {
    if (open?.isHeld) throw beingMoved(card);
    if (open && card.stageId !== stage.id) await abandonMove(trx, card, open);
    await enterStage(trx, transition, index, actorId);
    const blocked = card.stageId === stage.id ? card.blocked : null;
    const task = { number: card.number, statusId: stage.id, blocked };
    return { state: "moved", result: { task, promoted: [] } };
  }
  if (open && !open.isHeld && open.stageId === stage.id) {
    const taken = await takeOver(trx, open, { holder: deps.instanceId, requestId });
    if (!taken) throw beingMoved(card);
    return {
      state: "held",
      move: { id: open.id, attempt: taken.attempt, actorId: open.actorId, index },
    };
  }
  if (open) await abandonMove(trx, card, open);
  const id = deps.newId();
  await insertOperation(trx, {
    id,
    workspaceId: card.workspaceId,
    cardId: card.id,
    stageId: stage.id,
    index,
    actorId,
    requestId,
    holder: deps.instanceId,
  });
  return { state: "held", move: { id, attempt: 1, actorId, index } };
}

/** Places the card and, where it changes stage, records that on its timeline and clears `blocked`. */
export async function enterStage(
  trx: Trx,
  { card, stage }: Pick<Transition, "card" | "stage">,
  index: number,
  actorId: string,
): Promise<void> {
  const isElsewhere = card.stageId !== stage.id;
  const data = { from: card.stageId, to: stage.id };
  const actor = { userId: actorId, login: null };
  await allInOrder([
    placeCard(trx, card.id, stage.id, index),
    isElsewhere && card.blocked && setBlocked(trx, card.id, null),
    isElsewhere && recordEvents(trx, [{ cardId: card.id, kind: "status_changed", actor, data }]),
  ]);
}

/** Does what is left of a move. If that fails, releases the move, so that a retry or the sweep continues it. */
export async function orReleaseMove<T>(
  deps: Deps,
  move: { readonly id: string; readonly attempt: number },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await releaseWithRetry(deps.log, "a move", () => settleOperation(deps.db, move, "running"));
    throw error;
  }
}

/** Ends a move that nobody holds, for another to take its place. Throws busy while somebody holds it or GitHub has it queued. */
export async function abandonMove(
  trx: Trx,
  card: { readonly number: number },
  open: Operation,
): Promise<void> {
  if (open.isHeld) throw beingMoved(card);
  if (open.state === "queued") {
    throw busy(
      `Card ${card.number} waits in the forge's merge queue. Take it out of the queue there first.`,
      30,
    );
  }
  await settleOperation(trx, open, "abandoned");
}

/** Another call moves the card. */
export const beingMoved = (card: { readonly number: number }): Problem =>
  busy(`Card ${card.number} is being moved by another call. Try again in a moment.`, 1);
