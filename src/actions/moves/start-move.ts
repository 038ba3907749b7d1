import { isDeepStrictEqual } from "node:util";
import { busy, notFound, type Problem } from "../../errors.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import { needsGit, type HeadShas } from "../../flow/move.ts";
import type { WaitingFacts } from "../../flow/decide.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { findArmed, type ArmedMove } from "../../store/cards/armed-moves.ts";
import { setBlocked } from "../../store/cards/blocked-cards.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { countLinks } from "../../store/cards/links.ts";
import { findMoveOfRequest, findOpenMove, MAX_INDEX, type EarlierMove } from "../../store/cards/moves.ts";
import { findCardAbove, findPlace, placeCard } from "../../store/cards/placing.ts";
import { lockFlowOfStage, findProject, type Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { allInOrder, transaction } from "../../store/db/transaction.ts";
import { recordChange } from "../../store/events/feed.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import {
  finishOperation,
  insertOperation,
  takeOverOperation,
  type MoveOperation,
  type MoveTerms,
  type OwnedOperation,
} from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { recheckCardsWaitingForRoom } from "../../store/cards/schedule-rechecks.ts";
import { disarm, deleteDisarmedItem, MOVED } from "./armed-move.ts";
import { lockAndCheckGates, type Mover } from "./check-gates.ts";
import { refuseCard, type RefusedMove } from "./refuse-card.ts";
import { mayEnter } from "./may-enter.ts";
import { runOrFree } from "../lease.ts";

/** A card and the stage of its project's flow that it enters, or whose missing steps are run. */
export interface Transition {
  readonly card: CardHead;
  readonly project: Project;
  readonly stage: Stage;
  /** The heads that the card's branches must have, or null. */
  readonly headShas?: HeadShas | null;
  /**
   * Set if the card may wait until it is ready.
   */
  readonly waiting?: WaitingFacts | undefined;
  /** What the gates refuse that need no call to GitHub. Absent if the move has passed them. */
  readonly entryReasons?: readonly BlockedReason[];
  /** The mover that the gates judge; absent if nobody moves the card. */
  readonly mover?: Mover;
}

/** A move that this process owns. `generation` changes when another process takes the move over. */
export interface RunningMove extends OwnedOperation, Mover, MoveTerms {
  /** It has waited until it was ready. */
  readonly isArmed?: boolean;
  /** A job runs it: a pull request that has left the merge queue is not queued again. */
  readonly isResumed?: boolean;
  /** It has been queued for so long that the webhook about its merge may be lost. */
  readonly isOverdue?: boolean;
}

/** A transition with its card and stage locked, and everything that decides how its move begins. */
interface LockedTransition extends Transition {
  readonly linkCount: number;
  /** The card's unfinished move, or null. */
  readonly open: MoveOperation | null;
  /** An earlier attempt of the same request to move the card into the stage, or null. */
  readonly earlier: EarlierMove | null;
  /** The card's move that waits until it is ready, or null. */
  readonly armed: ArmedMove | null;
}

/** What a caller asks for. */
interface MoveRequest extends Mover, Partial<MoveTerms> {
  readonly index: number;
  readonly requestId: string;
}

/** A move that this process owns and has to run on GitHub. */
export interface BegunMove {
  readonly transition: Transition;
  readonly move: RunningMove;
}

type StartedMove =
  | (BegunMove & { readonly state: "started" })
  /** The card has moved without Git, or by an earlier attempt. `result` is the response. */
  | { readonly state: "moved"; readonly result: unknown }
  /** A gate of the stage refuses the card. */
  | RefusedMove;

/**
 * Locks the card and the stage it enters until the transaction ends, and reads what its move
 * depends on. The lock on the stage keeps the flow from changing until the move has begun; an
 * unfinished move keeps it from changing after that. Null if the card's flow has no such stage;
 * throws `not_found` for a deleted card.
 */
export async function lockTransition(
  trx: Trx,
  head: Pick<CardHead, "id" | "workspaceId" | "projectId" | "number">,
  stageId: string,
  requestId: string | null,
): Promise<LockedTransition | null> {
  const { id: cardId, workspaceId, projectId, number } = head;
  const [card, , project, linkCount, open, earlier, armed] = await allInOrder([
    lockCard(trx, cardId),
    lockFlowOfStage(trx, stageId),
    findProject(trx, workspaceId, projectId),
    countLinks(trx, cardId),
    findOpenMove(trx, cardId),
    findMoveOfRequest(trx, { cardId, stageId, requestId }),
    findArmed(trx, cardId),
  ]);
  if (!card) throw notFound(`There is no card ${number} on this board.`);
  if (!project) throw new Error(`card ${cardId} without its project`);
  const stage = stageOf(project.flow, stageId);
  return stage ? { card, project, stage, linkCount, open, earlier, armed } : null;
}

/**
 * Begins a move in the caller's transaction. A move that needs no Git places the card immediately.
 * Any other move is owned by this process from then on: it takes over the card's unfinished move
 * into the same stage, or abandons one into another stage and inserts a new one. Throws busy while
 * another call moves the card. If a gate of the stage refuses the card, blocks it and changes nothing
 * else. Disarms the card's armed move if this move changes the card's stage, unless it has `whenReady`
 * and needs Git.
 */
export async function startMove(
  deps: Deps,
  trx: Trx,
  transition: LockedTransition,
  request: MoveRequest,
): Promise<StartedMove> {
  const { card, stage, linkCount, earlier } = transition;
  const { index, requestId, headShas = null, whenReady = null } = request;
  if (earlier?.state === "done") return { state: "moved", result: earlier.result };
  if (transition.open?.hasLiveOwner) throw beingMoved(card);
  const open = await waitAgain(trx, transition.open);
  const { actorId, isHuman } = await moverOf(trx, { ...transition, open }, request);
  const reasons = await lockAndCheckGates(trx, transition, { actorId, isHuman });
  if (reasons.length > 0) return refuseEntry(deps, trx, transition, reasons, actorId);
  const isWithGit = needsGit(card.stageId, stage, linkCount);
  if (transition.armed && card.stageId !== stage.id && !(isWithGit && whenReady))
    await disarm(trx, transition.armed, MOVED, request.actorId);
  if (!isWithGit) {
    if (open && card.stageId !== stage.id) await abandonMove(trx, card, open);
    await enterStage(trx, transition, index, actorId);
    const blocked = card.stageId === stage.id ? card.blocked : null;
    const task = { number: card.number, statusId: stage.id, blocked };
    return { state: "moved", result: { task, promoted: [] } };
  }
  if (open?.stageId === stage.id) {
    const isOtherHead = headShas !== null && !isDeepStrictEqual(headShas, open.input.headShas);
    if (open.state === "queued" && isOtherHead) throw beingMerged(card);
    const terms = { index, headShas, whenReady };
    const by = { holder: deps.instanceId, requestId, input: terms, actorId, isHuman };
    const taken = await takeOverOperation(trx, open, by);
    if (!taken) throw beingMoved(card);
    const move = { id: open.id, generation: taken.generation, actorId, isHuman, ...terms };
    return { state: "started", transition, move };
  }
  if (open) await abandonMove(trx, card, open);
  const move = await insertMove(deps, trx, transition, { ...request, actorId, isHuman });
  return { state: "started", transition, move };
}

/** Inserts a move that this process owns. */
async function insertMove(
  { newId, instanceId: holder }: Deps,
  trx: Trx,
  { card: { id: cardId, workspaceId }, stage }: Transition,
  { requestId, actorId, isHuman, index, headShas = null, whenReady = null }: MoveRequest,
): Promise<RunningMove> {
  const by = { id: newId(), actorId, isHuman };
  const input = { index: Math.min(index, MAX_INDEX), headShas, whenReady };
  const of = { workspaceId, kind: "move", cardId, stageId: stage.id } as const;
  await insertOperation(trx, { ...by, ...of, input, requestId, holder });
  return { ...by, generation: 1, ...input };
}

/**
 * Lets an armed move that no process runs wait again, because another move of the card begins.
 * Returns any other unfinished move.
 */
async function waitAgain(trx: Trx, open: MoveOperation | null): Promise<MoveOperation | null> {
  if (!open?.isArmed) return open;
  await finishOperation(trx, open, "waiting");
  await recheckCardsWaitingForRoom(trx, open.stageId);
  return null;
}

/**
 * Who moves the card: the caller, or the caller who started its unfinished move into the stage and
 * may still move it.
 */
async function moverOf(trx: Trx, transition: LockedTransition, caller: Mover): Promise<Mover> {
  const { open, stage } = transition;
  if (open?.stageId !== stage.id) return caller;
  return (await mayEnter(trx, open.actorId, transition)) ? open : caller;
}

async function refuseEntry(
  deps: Deps,
  trx: Trx,
  transition: Transition,
  reasons: readonly BlockedReason[],
  actorId: string,
): Promise<RefusedMove> {
  const blocked = await refuseCard(trx, transition, { reasons, headSha: null }, actorId);
  deps.metrics.moves.inc({ outcome: "refused" });
  for (const { reason } of reasons) deps.metrics.refusals.inc({ reason });
  return { state: "refused", blocked, promoted: [] };
}

/**
 * Places the card and records it: on the timeline and in the feed if its stage changes, which also
 * clears `blocked`; only in the feed if it has another card above it than before.
 */
export async function enterStage(
  trx: Trx,
  { card, stage, project }: Pick<Transition, "card" | "stage" | "project">,
  index: number,
  actorId: string,
): Promise<void> {
  const { id: cardId, workspaceId, stageId } = card;
  const isSameStage = stageId === stage.id;
  const [place, aboveBefore] = await allInOrder([
    findPlace(trx, cardId, stage.id, index),
    isSameStage ? findCardAbove(trx, cardId, stageId) : null,
  ]);
  const { above } = place;
  if (isSameStage) {
    const data = { statusId: stageId, from: { above: aboveBefore }, to: { above } };
    const by = { workspaceId, userId: actorId };
    const isReordered = above !== aboveBefore;
    await allInOrder([
      placeCard(trx, cardId, stage.id, place),
      isReordered && recordChange(trx, by, { kind: "card_reordered", cardId, data }),
    ]);
    return;
  }
  if (stageOf(project.flow, stageId)?.gates?.wipLimit) await recheckCardsWaitingForRoom(trx, stageId);
  const data = { from: stageId, to: stage.id, above };
  const actor = { userId: actorId, login: null };
  await allInOrder([
    placeCard(trx, cardId, stage.id, place),
    card.blocked && setBlocked(trx, cardId, null),
    deleteDisarmedItem(trx, cardId),
    recordEvents(trx, [{ cardId, kind: "status_changed", actor, data }]),
  ]);
}

/**
 * Starts a move that no request waits for, in a transaction of its own. Frees it if that fails, because
 * PostgreSQL may have committed without a confirmation.
 */
export async function startInTransaction(
  deps: Deps,
  start: (trx: Trx) => Promise<BegunMove | null>,
): Promise<BegunMove | null> {
  let begun: BegunMove | null = null;
  try {
    return await transaction(deps.db, async (trx) => (begun = await start(trx)));
  } catch (error) {
    const { move } = (begun as BegunMove | null) ?? {};
    if (!move) throw error;
    return runOrFree(deps, move, () => Promise.reject(error));
  }
}

/** Abandons an unfinished move. Throws busy while a process owns it or GitHub has it queued. */
export async function abandonMove(
  trx: Trx,
  card: { readonly number: number },
  open: MoveOperation,
): Promise<void> {
  if (open.hasLiveOwner) throw beingMoved(card);
  if (open.state === "queued") throw beingMerged(card);
  await finishOperation(trx, open, "abandoned");
  await recheckCardsWaitingForRoom(trx, open.stageId);
}

const beingMerged = (card: { readonly number: number }): Problem =>
  busy(
    `GitHub has accepted the merge of card ${card.number} and has not finished it. Wait, or remove its pull request from the merge queue.`,
    30,
  );

export const beingMoved = (card: { readonly number: number }): Problem =>
  busy(`Card ${card.number} is being moved by another call. Try again in a moment.`, 1);
