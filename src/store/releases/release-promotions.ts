import { queueRejected } from "../../flow/refusal.ts";
import { exists, firstRow, rows, type Db } from "../db/connect.ts";
import type { OwnedOperation } from "../ops/operations.ts";

/** The results of a promotion as the API shows them. */
export interface PromotionOutcome extends Readonly<Record<"promoted" | "refused" | "skipped", object[]>> {
  readonly pending: readonly number[];
  /** The operation that returns the pending results; null if none is pending. */
  readonly operationId: string | null;
}

/** Records the cards to promote, in order. */
export async function insertPromotions(
  db: Db,
  operationId: string,
  cardIds: readonly string[],
): Promise<void> {
  await db.raw(
    `insert into release_promotions (operation_id, position, card_id)
     select cast(:operationId as uuid), position, card_id
       from unnest(cast(:cardIds as uuid[])) with ordinality as chosen (card_id, position)`,
    { operationId, cardIds: [...cardIds] },
  );
}

export interface PendingPromotion {
  readonly position: number;
  readonly cardId: string;
  readonly tries: number;
}

/** The next card to promote, or null. A deferred card comes after the others. */
export async function nextPromotion(db: Db, operationId: string): Promise<PendingPromotion | null> {
  return firstRow<PendingPromotion>(
    db,
    `select position, card_id as "cardId", tries from release_promotions
      where operation_id = :operationId and state = 'pending' order by tries, position limit 1`,
    { operationId },
  );
}

/** `detail` is what the API shows of the card. */
export interface PromotionResult {
  readonly state: "promoted" | "refused" | "skipped" | "queued";
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Records the result of a card. False if another process owns the promotion: roll back then. */
export async function finishPromotion(
  db: Db,
  operation: OwnedOperation,
  position: number,
  { state, detail }: PromotionResult,
): Promise<boolean> {
  return exists(
    db,
    `with owned as (
       update operations set updated_at = now(), failures = 0
        where id = :id and generation = :generation and state = 'running' returning id)
     update release_promotions p set state = :state, detail = cast(:detail as jsonb)
       from owned where p.operation_id = owned.id and p.position = :position and p.state = 'pending'
     returning p.position`,
    { ...operation, position, state, detail: JSON.stringify(detail) },
  );
}

/**
 * Skips the pending cards of a cancelled promotion, except those whose move has begun. Returns
 * whether there were any.
 */
export async function skipCancelled(db: Db, operation: OwnedOperation): Promise<boolean> {
  return exists(
    db,
    `with cancelled as (
       update operations set updated_at = now(), failures = 0
        where id = :id and generation = :generation and state = 'running' and cancelled_at is not null returning id)
     update release_promotions p set state = 'skipped', detail = '{"reason": "cancelled"}'
       from cancelled where p.operation_id = cancelled.id and p.state = 'pending'
        and not exists (select 1 from operations o
                         where o.card_id = p.card_id and o.request_id = p.operation_id || ':' || p.position
                           and o.state in ('running', 'queued', 'done'))
     returning p.position`,
    { ...operation },
  );
}

/** Defers a card that another move is moving until after the other cards. */
export async function deferPromotion(db: Db, operationId: string, position: number): Promise<void> {
  await db("release_promotions").where({ operation_id: operationId, position }).increment("tries", 1);
}

/** The request id of a card's move in a promotion, the same for all attempts. */
export const promotionRequestId = (operationId: string, position: number): string =>
  `${operationId}:${position}`;

interface OutcomeRow extends Omit<PromotionResult, "state"> {
  readonly number: number;
  readonly state: "pending" | PromotionResult["state"];
  readonly moveState: string | null;
  readonly moved: { readonly task: { readonly statusId: string } } | null;
  readonly blocked: { readonly repository: string; readonly reason: string; readonly message: string } | null;
}

/**
 * Reads the results so far, in order. A queued card has the result of its move. The cards that were left
 * when the promotion was abandoned count as cancelled.
 */
export async function readPromotion(db: Db, operationId: string): Promise<PromotionOutcome> {
  const found = await rows<OutcomeRow>(
    db,
    `select c.number, o.state as "moveState", o.result as moved, c.blocked,
            case when p.state = 'pending' and a.state = 'abandoned' then 'skipped' else p.state end as state,
            case when p.state = 'pending' and a.state = 'abandoned' then '{"reason": "cancelled"}' else p.detail end as detail
       from release_promotions p
       join operations a on a.id = p.operation_id
       join cards c on c.id = p.card_id
       left join lateral (select state, result from operations m
                           where p.state = 'queued' and m.card_id = p.card_id
                             and m.request_id = p.operation_id || ':' || p.position
                           order by m.created_at desc limit 1) o on true
      where p.operation_id = :operationId order by p.position`,
    { operationId },
  );
  const results = found.map((row) => ({ number: row.number, ...resultOf(row) }));
  const pending = results.filter(({ state }) => state === "pending").map(({ number }) => number);
  const of = (state: string) =>
    results.filter((row) => row.state === state).map(({ number, detail }) => ({ number, ...detail }));
  return {
    promoted: of("promoted"),
    refused: of("refused"),
    skipped: of("skipped"),
    pending,
    operationId: pending.length > 0 ? operationId : null,
  };
}

function resultOf(row: OutcomeRow): Pick<OutcomeRow, "state" | "detail"> {
  const { state, detail, moveState, moved, blocked } = row;
  if (state !== "queued") return { state, detail };
  if (moveState === "done" && moved) {
    const { task, ...merges } = moved;
    return { state: "promoted", detail: { statusId: task.statusId, ...merges } };
  }
  if (moveState === "queued" || moveState === "running") return { state: "pending", detail: {} };
  const { reason, message } = blocked ?? queueRejected("unknown");
  return { state: "refused", detail: { repository: blocked?.repository ?? null, reason, message } };
}
