import { exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { whileItStands } from "../db/transaction.ts";
import { isHeld } from "./instances.ts";
import type { HeldMove } from "./intents.ts";

/** A merge that a move brought about. */
export interface Promotion {
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
}

/** A card's move under way. `attempt` fences it: a holder whose attempt is no longer the row's may write nothing more. */
export interface Operation {
  readonly id: string;
  readonly workspaceId: string;
  readonly cardId: string;
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  readonly state: "running" | "queued" | "done" | "refused" | "abandoned";
  readonly attempt: number;
  /** What this move has merged so far. */
  readonly promoted: readonly Promotion[];
  /** Whether a live process is at work on it. */
  readonly isHeld: boolean;
}

const OPERATION = `
  select o.id, o.workspace_id as "workspaceId", o.card_id as "cardId", o.stage_id as "stageId", o.index,
         o.actor_id as "actorId", o.state, o.attempt, o.promoted, ${isHeld("o.holder")} as "isHeld"
    from operations o`;

/** The move of this card that has not ended, or null. */
export async function findOpenOperation(db: Db, cardId: string): Promise<Operation | null> {
  return firstRow<Operation>(
    db,
    `${OPERATION} where o.card_id = :cardId and o.state in ('running', 'queued')`,
    { cardId },
  );
}

export interface EarlierOperation {
  readonly state: Operation["state"];
  /** The answer to it, once it is done. */
  readonly result: unknown;
}

/** How an earlier attempt of the same request to move the card into this stage ended, and its answer; null where there was none. */
export async function findOperationOfRequest(
  db: Db,
  request: { readonly cardId: string; readonly stageId: string; readonly requestId: string },
): Promise<EarlierOperation | null> {
  return firstRow(
    db,
    `select state, result from operations
      where card_id = :cardId and stage_id = :stageId and request_id = :requestId
      order by state = 'done' desc, created_at desc limit 1`,
    request,
  );
}

/**
 * Moves that nobody is at work on, the longest waiting first: their process died, or the forge could not be reached. Those the forge has queued
 * are among them after a while, in case its word about them was lost.
 */
export async function listOrphanedOperations(db: Db, limit: number): Promise<Operation[]> {
  return rows<Operation>(
    db,
    `${OPERATION} where not ${isHeld("o.holder")}
        and ((o.state = 'running' and o.updated_at < now() - power(2, least(o.attempt, 8)) * interval '1 second')
          or (o.state = 'queued' and o.updated_at < now() - interval '5 minutes'))
      order by o.updated_at limit :limit`,
    { limit },
  );
}

interface NewOperation {
  readonly id: string;
  readonly workspaceId: string;
  readonly cardId: string;
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  readonly requestId: string | null;
  readonly holder: string;
}

/** The largest index a move can have: past the end is the end, and the column holds no larger number. */
export const LAST_INDEX = 2_147_483_647;

/** Inserts a move. What earlier attempts of the same request have merged counts as merged by this one. */
export async function insertOperation(db: Db, operation: NewOperation): Promise<void> {
  await whileItStands(
    rows(
      db,
      `insert into operations (id, workspace_id, card_id, stage_id, index, actor_id, request_id, holder, state, promoted)
       values (:id, :workspaceId, :cardId, :stageId, :index, :actorId, :requestId, :holder, 'running',
               (select coalesce(jsonb_agg(distinct each.promotion), '[]')
                  from operations earlier, jsonb_array_elements(earlier.promoted) each(promotion)
                 where earlier.card_id = :cardId and earlier.stage_id = :stageId and earlier.request_id = :requestId))`,
      { ...operation, index: Math.min(operation.index, LAST_INDEX) },
    ),
  );
}

/** A move as it was taken over, and how many processes in a row died while they held it and got nothing further. */
export interface TakenOver {
  readonly attempt: number;
  readonly deaths: number;
}

/**
 * Takes an operation that nobody holds; null when somebody was quicker. Who still holds it did not let go of it, and is dead: that is counted
 * here, before anything more is tried.
 */
export async function takeOver(
  db: Db,
  operation: HeldMove,
  by: { holder: string; requestId: string | null },
): Promise<TakenOver | null> {
  return firstRow<TakenOver>(
    db,
    `update operations o
        set state = 'running', holder = :holder, attempt = o.attempt + 1, updated_at = now(),
            request_id = coalesce(:requestId, o.request_id), deeds = done.deeds,
            deaths = case when o.holder is null then o.deaths when o.deeds = done.deeds then o.deaths + 1 else 1 end
       from (select cast(count(*) as integer) as deeds
               from forge_intents i join operations mine on mine.card_id = i.card_id
              where mine.id = :id and i.done) done
      where o.id = :id and o.attempt = :attempt and o.state in ('running', 'queued') and not ${isHeld("o.holder")}
      returning o.attempt, o.deaths`,
    { ...by, ...operation },
  );
}

/** Counts that going on with a move has failed for a reason of our own. Gives how often by now; null where it is another's. */
export async function countFailure(db: Db, operation: HeldMove): Promise<number | null> {
  return firstValue<number>(
    db,
    "update operations set failures = failures + 1 where id = :id and attempt = :attempt returning failures",
    { id: operation.id, attempt: operation.attempt },
  );
}

/**
 * Ends, queues or lets go of an operation (`running` with no holder). False when it is no longer ours, and then nothing of the
 * same transaction may be committed.
 */
export async function settleOperation(
  db: Db,
  operation: HeldMove,
  state: Operation["state"],
  result: unknown = null,
): Promise<boolean> {
  return exists(
    db,
    `update operations set state = :state, holder = null, result = cast(:result as jsonb), updated_at = now()
      where id = :id and attempt = :attempt and state in ('running', 'queued') returning id`,
    {
      id: operation.id,
      attempt: operation.attempt,
      state,
      result: result === null ? null : JSON.stringify(result),
    },
  );
}

/** Whether a move is still this holder's. Nobody takes it over before the transaction ends. */
export async function isOperationOurs(trx: Trx, operation: HeldMove): Promise<boolean> {
  return exists(
    trx,
    "select 1 from operations where id = :id and attempt = :attempt and state = 'running' for share",
    { ...operation },
  );
}

/** Adds to what the move has merged; recording the same merge again changes nothing. */
export async function addPromotion(db: Db, operation: HeldMove, promotion: Promotion): Promise<void> {
  await db.raw(
    `update operations set promoted = promoted || cast(:added as jsonb), updated_at = now()
      where id = :id and attempt = :attempt and not promoted @> cast(:added as jsonb)`,
    { ...operation, added: JSON.stringify([promotion]) },
  );
}

/** What a move has merged so far. */
export async function listPromotions(db: Db, operationId: string): Promise<Promotion[]> {
  const row = await firstRow<{ promoted: Promotion[] }>(
    db,
    "select promoted from operations where id = :operationId",
    { operationId },
  );
  return row?.promoted ?? [];
}

/** Who last moved this card: what Trunkline does later on its stage's behalf is done for them. */
export async function lastMoverOf(db: Db, cardId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select actor_id as "actorId" from operations where card_id = :cardId and state in ('done', 'running', 'queued')
      order by created_at desc limit 1`,
    { cardId },
  );
}
