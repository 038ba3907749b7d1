import type { HeadShas } from "../../flow/move.ts";
import type { ArmingRequest } from "../../flow/readiness.ts";
import { column, exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { busyIfStageRemoved } from "../db/transaction.ts";
import { isLimitedSql } from "../forge/forge-limits.ts";
import { isAliveSql } from "./instances.ts";
import type { OwnedMove } from "./intents.ts";

/** A merge by a move. */
export interface RecordedMerge {
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
}

/** A move of a card. `generation` is a fencing token: a process with an older one may not write. */
export interface Operation {
  readonly id: string;
  readonly workspaceId: string;
  readonly cardId: string;
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  /** Whether the actor used a session of the console, not an API key. */
  readonly isHuman: boolean;
  readonly state: "running" | "queued" | "done" | "refused" | "abandoned";
  readonly generation: number;
  readonly headShas: HeadShas | null;
  /** Set if the move may end with waiting instead of a refusal. */
  readonly whenReady: ArmingRequest | null;
  /** The attempt of the audit log that began it or took it over last. */
  readonly attemptId: string | null;
  /** The merges so far, `promoted` in the response. */
  readonly promoted: readonly RecordedMerge[];
  /** Whether a live process is working on the move. */
  readonly hasLiveOwner: boolean;
}

const OPERATION = `
  select o.id, o.workspace_id as "workspaceId", o.card_id as "cardId", o.stage_id as "stageId", o.index,
         o.actor_id as "actorId", o.is_human as "isHuman", o.state, o.generation, o.promoted, o.attempt_id as "attemptId",
         o.head_shas as "headShas", o.when_ready as "whenReady", ${isAliveSql("o.holder")} as "hasLiveOwner"
    from operations o`;

/** The unfinished move of a card, or null. */
export async function findOpenOperation(db: Db, cardId: string): Promise<Operation | null> {
  return firstRow<Operation>(
    db,
    `${OPERATION} where o.card_id = :cardId and o.state in ('running', 'queued')`,
    { cardId },
  );
}

export interface EarlierOperation {
  readonly state: Operation["state"];
  /** The response of a finished move. */
  readonly result: unknown;
}

/** The move that an earlier attempt of the same request started, or null. */
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

const REPOSITORIES = "select cr.repository_id from card_repositories cr where cr.card_id = o.card_id";

/**
 * SQL for whether no live process works on a move whose repositories GitHub does not limit. A move
 * whose merge GitHub has accepted is included after five minutes, because the webhook about it may be
 * lost.
 */
const IS_ORPHANED = `
  not ${isAliveSql("o.holder")} and not ${isLimitedSql(REPOSITORIES)}
  and ((o.state = 'running' and o.updated_at < now() - power(2, least(o.generation, 8)) * interval '1 second')
    or (o.state = 'queued' and o.updated_at < now() - interval '5 minutes'))`;

/** Lists boards with moves that no live process works on, the longest waiting first. */
export const listBoardsWithOrphans = (db: Db, limit: number): Promise<string[]> =>
  column<string>(
    db,
    `select o.workspace_id as id from operations o where ${IS_ORPHANED}
      group by o.workspace_id order by min(o.updated_at) limit :limit`,
    { limit },
  );

/** Lists the moves of a board that no live process works on, the longest waiting first. */
export const listOrphanedOperations = (db: Db, boardId: string, limit: number): Promise<Operation[]> =>
  rows<Operation>(
    db,
    `${OPERATION} where o.workspace_id = :boardId and ${IS_ORPHANED} order by o.updated_at limit :limit`,
    { boardId, limit },
  );

interface NewOperation extends Omit<
  Operation,
  "state" | "generation" | "attemptId" | "promoted" | "hasLiveOwner"
> {
  readonly requestId: string | null;
  readonly holder: string;
}

/** The largest value of the column. An index past the end of a stage means its end. */
export const MAX_INDEX = 2_147_483_647;

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** Inserts a move. It takes over the merges of earlier attempts of the same request. */
export async function insertOperation(db: Db, operation: NewOperation): Promise<void> {
  await busyIfStageRemoved(
    rows(
      db,
      `insert into operations (id, workspace_id, card_id, stage_id, index, actor_id, is_human, request_id, head_shas, when_ready, holder, state, promoted)
       values (:id, :workspaceId, :cardId, :stageId, :index, :actorId, :isHuman, :requestId, cast(:headShas as jsonb),
               cast(:whenReady as jsonb), :holder, 'running',
               (select coalesce(jsonb_agg(distinct each.merge), '[]')
                  from operations earlier, jsonb_array_elements(earlier.promoted) each(merge)
                 where earlier.card_id = :cardId and earlier.stage_id = :stageId and earlier.request_id = :requestId))`,
      {
        ...operation,
        index: Math.min(operation.index, MAX_INDEX),
        headShas: jsonOf(operation.headShas),
        whenReady: jsonOf(operation.whenReady),
      },
    ),
  );
}

export interface Takeover {
  readonly generation: number;
  /** How many processes in a row died while they owned it, without progress. */
  readonly crashes: number;
}

/**
 * Takes over an operation that no live process owns. Null if another process took it over first. If
 * the previous owner did not release the operation, it died, and its death is counted. A request
 * replaces the head commits that the operation requires, and whether it waits; a job, without
 * `requestId`, keeps them.
 */
export async function takeOverOperation(
  db: Db,
  operation: OwnedMove,
  by:
    | {
        readonly holder: string;
        readonly requestId: string;
        readonly headShas: HeadShas | null;
        readonly whenReady: ArmingRequest | null;
        readonly actorId: string;
        readonly isHuman: boolean;
      }
    | {
        readonly holder: string;
        readonly requestId: null;
        readonly headShas?: never;
        readonly whenReady?: never;
        readonly actorId?: never;
        readonly isHuman?: never;
      },
): Promise<Takeover | null> {
  return firstRow<Takeover>(
    db,
    `update operations o
        set state = 'running', holder = :holder, generation = o.generation + 1, updated_at = now(),
            request_id = coalesce(:requestId, o.request_id), attempt_id = coalesce(current_attempt(), o.attempt_id),
            actor_id = coalesce(cast(:actorId as uuid), o.actor_id),
            is_human = coalesce(cast(:isHuman as boolean), o.is_human), forge_effects = done.forge_effects,
            head_shas = case when cast(:requestId as text) is null then o.head_shas else cast(:headShas as jsonb) end,
            when_ready = case when cast(:requestId as text) is null then o.when_ready else cast(:whenReady as jsonb) end,
            crashes = case when o.holder is null then o.crashes when o.forge_effects = done.forge_effects then o.crashes + 1 else 1 end
       from (select cast(count(*) as integer) as forge_effects
               from forge_intents i join operations mine on mine.card_id = i.card_id
              where mine.id = :id and i.done) done
      where o.id = :id and o.generation = :generation and o.state in ('running', 'queued') and not ${isAliveSql("o.holder")}
      returning o.generation, o.crashes`,
    {
      ...by,
      ...operation,
      headShas: jsonOf(by.headShas ?? null),
      whenReady: jsonOf(by.whenReady ?? null),
      actorId: by.actorId ?? null,
      isHuman: by.isHuman ?? null,
    },
  );
}

/**
 * Counts a failure that GitHub did not cause. Returns the number of failures, or null if another
 * process owns the move.
 */
export async function countFailure(db: Db, operation: OwnedMove): Promise<number | null> {
  return firstValue<number>(
    db,
    "update operations set failures = failures + 1 where id = :id and generation = :generation returning failures",
    { ...operation },
  );
}

/**
 * Ends an operation, or leaves it to GitHub, which has accepted the merge. False if another process owns it; the
 * caller must then roll back its transaction.
 */
export const finishOperation = (
  db: Db,
  operation: OwnedMove,
  state: Exclude<Operation["state"], "running">,
  result: unknown = null,
): Promise<boolean> => setState(db, operation, state, result);

/** Frees an unfinished operation, so that a retry or a job can take it over. */
export const freeOperation = (db: Db, operation: OwnedMove): Promise<boolean> =>
  setState(db, operation, "running", null);

async function setState(
  db: Db,
  operation: OwnedMove,
  state: Operation["state"],
  result: unknown,
): Promise<boolean> {
  return exists(
    db,
    `update operations set state = :state, holder = null, result = cast(:result as jsonb), updated_at = now()
      where id = :id and generation = :generation and state in ('running', 'queued') returning id`,
    { ...operation, state, result: jsonOf(result) },
  );
}

/** Whether this process still owns the move. Prevents a takeover until the transaction ends. */
export async function ownsOperation(trx: Trx, operation: OwnedMove): Promise<boolean> {
  return exists(
    trx,
    "select 1 from operations where id = :id and generation = :generation and state = 'running' for share",
    { ...operation },
  );
}

/** Records a merge of the move. Recording it again changes nothing. */
export async function recordMerge(db: Db, operation: OwnedMove, merge: RecordedMerge): Promise<void> {
  await db.raw(
    `update operations set promoted = promoted || cast(:added as jsonb), updated_at = now()
      where id = :id and generation = :generation and not promoted @> cast(:added as jsonb)`,
    { ...operation, added: JSON.stringify([merge]) },
  );
}

export async function listRecordedMerges(db: Db, operationId: string): Promise<RecordedMerge[]> {
  const promoted = "select promoted from operations where id = :operationId";
  return (await firstValue<RecordedMerge[]>(db, promoted, { operationId })) ?? [];
}

/**
 * The user of the card's last move with Git that took effect or runs. Later effects of its stage are
 * attributed to that user.
 */
export async function findLastMover(db: Db, cardId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select actor_id as "actorId" from operations where card_id = :cardId and state in ('done', 'running', 'queued')
      order by created_at desc limit 1`,
    { cardId },
  );
}
