import { exists, firstRow, rows, type Db } from "../db/connect.ts";
import type { Promotion } from "../ops/operations.ts";
import type { HeldAction } from "./release-actions.ts";

/** What became of the cards of a promotion, as the API shows it. */
export interface PromotionOutcome {
  readonly promoted: readonly {
    readonly number: number;
    readonly statusId: string;
    readonly promoted: readonly Promotion[];
    readonly alreadyMerged?: unknown;
  }[];
  readonly refused: readonly {
    readonly number: number;
    readonly repository: string | null;
    readonly reason: string;
    readonly message: string;
    readonly promoted?: readonly Promotion[];
    readonly alreadyMerged?: unknown;
  }[];
  readonly skipped: readonly { readonly number: number; readonly reason: string }[];
  readonly pending: readonly number[];
  /** Where the rest is told; null when nothing is pending. */
  readonly operationId: string | null;
}

/** Writes down the cards that are to be promoted, in this order. */
export async function insertPromotions(db: Db, actionId: string, cardIds: readonly string[]): Promise<void> {
  await db.raw(
    `insert into release_promotions (action_id, position, card_id)
     select cast(:actionId as uuid), position, card_id
       from unnest(cast(:cardIds as uuid[])) with ordinality as chosen (card_id, position)`,
    { actionId, cardIds: [...cardIds] },
  );
}

export interface PendingPromotion {
  readonly position: number;
  readonly cardId: string;
  readonly tries: number;
}

/** The card whose turn is next, or null; one that somebody else was moving comes after the others. */
export async function nextPromotion(db: Db, actionId: string): Promise<PendingPromotion | null> {
  return firstRow<PendingPromotion>(
    db,
    `select position, card_id as "cardId", tries from release_promotions
      where action_id = :actionId and state = 'pending' order by tries, position limit 1`,
    { actionId },
  );
}

export type PromotionEnd =
  | {
      readonly state: "promoted";
      readonly detail: {
        readonly statusId: string;
        readonly promoted: unknown;
        readonly alreadyMerged?: unknown;
      };
    }
  | {
      readonly state: "refused";
      readonly detail: {
        readonly repository: string | null;
        readonly reason: string;
        readonly message: string;
        readonly promoted: unknown;
        readonly alreadyMerged?: unknown;
      };
    }
  | { readonly state: "skipped"; readonly detail: { readonly reason: string } }
  | { readonly state: "queued"; readonly detail: Record<string, never> };

/** Records what became of one card; false when the promotion is no longer this holder's, and then nothing may be committed. */
export async function settlePromotion(
  db: Db,
  action: HeldAction,
  position: number,
  { state, detail }: PromotionEnd,
): Promise<boolean> {
  return exists(
    db,
    `with held as (
       update release_actions set updated_at = now(), failures = 0
        where id = :id and attempt = :attempt and state = 'running' returning id)
     update release_promotions p set state = :state, detail = cast(:detail as jsonb)
       from held where p.action_id = held.id and p.position = :position and p.state = 'pending'
     returning p.position`,
    { id: action.id, attempt: action.attempt, position, state, detail: JSON.stringify(detail) },
  );
}

/** Puts a card off behind the others. */
export async function putOffPromotion(db: Db, actionId: string, position: number): Promise<void> {
  await db("release_promotions").where({ action_id: actionId, position }).increment("tries", 1);
}

/** How the move of one card of a promotion is named, across all tries. */
export const promotionRequestId = (actionId: string, position: number): string => `${actionId}:${position}`;

interface OutcomeRow {
  readonly number: number;
  readonly state: "pending" | "promoted" | "refused" | "skipped" | "queued";
  readonly detail: Readonly<Record<string, unknown>>;
  readonly moveState: string | null;
  readonly moved: {
    readonly task: { readonly statusId: string };
    readonly promoted: unknown;
    readonly alreadyMerged?: unknown;
  } | null;
  readonly blocked: { readonly repository: string; readonly reason: string; readonly message: string } | null;
}

/** What became of a promotion's cards so far, in the order asked for. A card the forge had queued is told by its move. */
export async function readPromotion(db: Db, actionId: string): Promise<PromotionOutcome> {
  const found = await rows<OutcomeRow>(
    db,
    `select c.number, p.state, p.detail, o.state as "moveState", o.result as moved, c.blocked
       from release_promotions p
       join cards c on c.id = p.card_id
       left join lateral (select state, result from operations m
                           where p.state = 'queued' and m.card_id = p.card_id
                             and m.request_id = p.action_id || ':' || p.position
                           order by m.created_at desc limit 1) o on true
      where p.action_id = :actionId order by p.position`,
    { actionId },
  );
  const told = found.map((row) => ({ number: row.number, ...endOf(row) }));
  const pending = told.filter(({ state }) => state === "pending").map(({ number }) => number);
  const of = (state: string) =>
    told.filter((row) => row.state === state).map(({ number, detail }) => ({ number, ...detail }));
  return {
    promoted: of("promoted"),
    refused: of("refused"),
    skipped: of("skipped"),
    pending,
    operationId: pending.length > 0 ? actionId : null,
  } as unknown as PromotionOutcome;
}

function endOf({
  state,
  detail,
  moveState,
  moved,
  blocked,
}: OutcomeRow): Pick<OutcomeRow, "state" | "detail"> {
  if (state !== "queued") return { state, detail };
  if (moveState === "done" && moved) {
    const { task, ...merges } = moved;
    return { state: "promoted", detail: { statusId: task.statusId, ...merges } };
  }
  if (moveState === "queued" || moveState === "running") return { state: "pending", detail: {} };
  const {
    repository = null,
    reason = "queue_rejected",
    message = "The forge's merge queue let go of it.",
  } = blocked ?? {};
  return { state: "refused", detail: { repository, reason, message } };
}
