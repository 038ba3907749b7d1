import { notFound } from "../errors.ts";
import type { Blocked } from "../flow/blocked.ts";
import type { Stage } from "../flow/flow.ts";
import { blockCard, setBlocked } from "../store/blocked-cards.ts";
import { lockCard, type CardHead } from "../store/cards.ts";
import type { Trx } from "../store/connect.ts";
import type { HeldKey } from "../store/idempotency.ts";
import { endMoveAtOnce } from "../store/move-ends.ts";
import { settleOperation } from "../store/operations.ts";
import { placeCard } from "../store/placing.ts";
import { recordEvents } from "../store/timeline.ts";
import { beingMoved, type HeldMove } from "./begin-move.ts";
import type { MoveOutcome } from "./carry-out-move.ts";
import type { Deps } from "./deps.ts";
import { lookAtForbidding } from "./heed-refusal.ts";
import type { Crossing } from "./look-at-card.ts";

/** Who moves a card, and what is kept of its result in the transaction that does the work. */
export interface Mover<Kept> {
  readonly userId: string;
  /** Names the move across its retries. */
  readonly requestId: string;
  keep(trx: Trx, body: unknown, status: number): Promise<Kept>;
  /** The same by the statement that ends the move, where one can; null where that has done nothing. */
  readonly keepAtOnce: ((body: unknown, end: EndAtOnce) => Promise<Kept | null>) | null;
}

/** Ends a move and keeps this answer under this key, or is false and has done nothing. */
type EndAtOnce = (held: HeldKey, answer: string) => Promise<boolean>;

/** What a move says of merges; what had been merged before only where there is any. */
export interface Merges {
  readonly promoted: MoveOutcome["promoted"];
  readonly alreadyMerged?: MoveOutcome["alreadyMerged"];
}

export const mergesOf = ({ promoted, alreadyMerged }: MoveOutcome): Merges =>
  alreadyMerged.length > 0 ? { promoted, alreadyMerged } : { promoted };

/**
 * Writes what a move came to, all in one transaction with whatever the mover keeps of the answer. Throws busy, and writes nothing, when
 * the move was taken over meanwhile.
 */
export async function settleMove<Kept>(
  deps: Deps,
  crossing: Crossing,
  move: HeldMove,
  outcome: MoveOutcome,
  mover: Keeper<Kept>,
): Promise<Settled<Kept>> {
  const settled =
    (await endAtOnce(deps, crossing, move, outcome, mover)) ??
    (await settleInSteps(deps, crossing, move, outcome, mover));
  deps.metrics.moves.inc({ outcome: outcome.state });
  if (outcome.state === "refused")
    for (const { reason } of outcome.reasons) deps.metrics.refusals.inc({ reason });
  return settled;
}

type Keeper<Kept> = Pick<Mover<Kept>, "keep" | "keepAtOnce">;
type Settled<Kept> = { readonly kept: Kept } | { readonly blocked: Blocked };

/** Null where it takes more than one statement, and then nothing is written. */
async function endAtOnce<Kept>(
  deps: Deps,
  { card, stage }: Crossing,
  move: HeldMove,
  outcome: MoveOutcome,
  { keepAtOnce }: Keeper<Kept>,
): Promise<Settled<Kept> | null> {
  if (outcome.state !== "moved" || keepAtOnce === null) return null;
  const { id: cardId, workspaceId, number } = card;
  const { id: moveId, attempt, index, actorId } = move;
  const where = { cardId, workspaceId, number, stageId: stage.id, index };
  const end = { moveId, attempt, ...where, eventId: deps.newId(), actorId };
  const kept = await keepAtOnce(moveResult(card, stage.id, null, mergesOf(outcome)), (held, answer) =>
    endMoveAtOnce(deps.db, end, held, answer),
  );
  return kept === null ? null : { kept };
}

async function settleInSteps<Kept>(
  deps: Deps,
  { card, stage }: Crossing,
  move: HeldMove,
  outcome: MoveOutcome,
  { keep }: Keeper<Kept>,
): Promise<Settled<Kept>> {
  return deps.db.transaction(async (trx) => {
    const current = await lockCard(trx, card.id);
    if (!current) throw notFound(`There is no card ${card.number} on this board.`);
    const settle = async (state: "done" | "refused" | "queued", result: unknown): Promise<void> => {
      if (await settleOperation(trx, move, state, result)) return;
      throw beingMoved(card);
    };
    // Another call put it there since this one looked: what stands where it is to stand is refused nothing.
    const isThere = current.stageId === stage.id;
    if (outcome.state === "refused" && !isThere) {
      await settle("refused", null);
      const blocked = await blockCard(trx, card.id, refusedBy(outcome, stage));
      await lookAtForbidding(trx, card.id, blocked.reasons);
      await recordEvents(trx, [
        {
          cardId: card.id,
          kind: "promotion_refused",
          actor: { userId: move.actorId, login: null },
          data: { ...blocked },
        },
      ]);
      return { blocked };
    }
    if (outcome.state === "queued") {
      const body = {
        ...moveResult(card, current.stageId, current.blocked, mergesOf(outcome)),
        queued: outcome.queued,
      };
      await settle("queued", body);
      return { kept: await keep(trx, body, 202) };
    }
    const body = moveResult(card, stage.id, isThere ? current.blocked : null, mergesOf(outcome));
    await settle("done", body);
    await enterStage(trx, current, stage, move.index, move.actorId);
    return { kept: await keep(trx, body, 200) };
  });
}

function refusedBy(outcome: Extract<MoveOutcome, { state: "refused" }>, stage: Stage): Omit<Blocked, "at"> {
  const [first] = outcome.reasons;
  if (!first) throw new Error("a refusal without a reason");
  return {
    reason: first.reason,
    message: first.message,
    repository: first.repository,
    reasons: outcome.reasons,
    statusId: stage.id,
    headSha: outcome.headSha,
  };
}

/** Places the card and, where it changes stage, says so on its timeline and clears what stood in its way. */
export async function enterStage(
  trx: Trx,
  card: CardHead,
  stage: Stage,
  index: number,
  actorId: string,
): Promise<void> {
  await placeCard(trx, card.id, stage.id, index);
  if (card.stageId === stage.id) return;
  if (card.blocked) await setBlocked(trx, card.id, null);
  await recordEvents(trx, [
    {
      cardId: card.id,
      kind: "status_changed",
      actor: { userId: actorId, login: null },
      data: { from: card.stageId, to: stage.id },
    },
  ]);
}

export const moveResult = (
  card: CardHead,
  statusId: string,
  blocked: Blocked | null,
  merges: Merges,
): Record<string, unknown> => ({ task: { number: card.number, statusId, blocked }, ...merges });
