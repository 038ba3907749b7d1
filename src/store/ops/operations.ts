import type { OnFailingChecks } from "../../flow/readiness.ts";
import type { HeadShas } from "../../flow/move.ts";
import { exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { busyIfStageRemoved } from "../db/transaction.ts";
import { isLimitedSql } from "../forge/forge-limits.ts";
import { isAliveSql } from "./instances.ts";

export const OPERATION_KINDS = ["move", "freeze", "unfreeze", "pick", "promote", "complete"] as const;
export type ReleaseOperationKind = Exclude<(typeof OPERATION_KINDS)[number], "move">;

export const OPERATION_STATES = ["running", "queued", "waiting", "done", "refused", "abandoned"] as const;

/** An operation that this process owns. `generation` is a fencing token: with an older one nobody may write. */
export interface OwnedOperation {
  readonly id: string;
  readonly generation: number;
}

/** Long work, which another process continues if its process ends. */
interface AnyOperation extends OwnedOperation {
  readonly workspaceId: string;
  readonly actorId: string;
  /** Whether the actor used a session of the console, not an API key. */
  readonly isHuman: boolean;
  readonly requestId: string | null;
  readonly state: (typeof OPERATION_STATES)[number];
  /** Failures in a row. */
  readonly failures: number;
  /** The attempt of the audit log that began it or took it over last. */
  readonly attemptId: string | null;
  /** Whether a live process is working on it. */
  readonly hasLiveOwner: boolean;
}

/** What a move was asked to do. */
export interface MoveTerms {
  readonly index: number;
  /** The heads that the card's branches must have, by repository id, or null. */
  readonly headShas: HeadShas | null;
  /** Set if it may wait until it is ready instead of being refused. */
  readonly whenReady: { readonly expiresInHours: number; readonly onFailingChecks: OnFailingChecks } | null;
}

export interface MoveOperation extends AnyOperation {
  readonly kind: "move";
  readonly cardId: string;
  readonly stageId: string;
  readonly input: MoveTerms;
  /** Whether it waits, or runs because it was ready. */
  readonly isArmed: boolean;
}

export interface ReleaseOperation extends AnyOperation {
  readonly kind: ReleaseOperationKind;
  readonly releaseId: string;
  /** The parameters of the request. */
  readonly input: unknown;
  /** What a later attempt needs to continue. */
  readonly progress: unknown;
  /** The promotion moves no further card, and ends. */
  readonly isCancelled: boolean;
}

export type Operation = MoveOperation | ReleaseOperation;

/** Selects operations, as `o`. */
export const OPERATION = `
  select o.id, o.workspace_id as "workspaceId", o.kind, o.card_id as "cardId", o.stage_id as "stageId",
         o.release_id as "releaseId", o.input, o.progress, o.actor_id as "actorId", o.is_human as "isHuman",
         o.request_id as "requestId", o.state, o.generation, o.failures, o.attempt_id as "attemptId",
         exists (select 1 from armed_moves armed where armed.operation_id = o.id) as "isArmed",
         o.cancelled_at is not null as "isCancelled", ${isAliveSql("o.holder")} as "hasLiveOwner"
    from operations o`;

interface NewOperation extends Pick<
  AnyOperation,
  "id" | "workspaceId" | "actorId" | "isHuman" | "requestId"
> {
  readonly kind: Operation["kind"];
  readonly cardId?: string;
  readonly stageId?: string;
  readonly releaseId?: string;
  readonly pickedCardId?: string | null;
  readonly input: unknown;
  readonly holder: string;
}

/** Inserts an operation. A move takes over the merges of earlier attempts of the same request. */
export async function insertOperation(db: Db, operation: NewOperation): Promise<void> {
  const { cardId = null, stageId = null, releaseId = null, pickedCardId = null, input } = operation;
  await busyIfStageRemoved(
    rows(
      db,
      `insert into operations (id, workspace_id, kind, card_id, stage_id, release_id, picked_card_id, input,
                               actor_id, is_human, request_id, holder, state, progress)
       values (:id, :workspaceId, :kind, :cardId, :stageId, :releaseId, :pickedCardId, cast(:input as jsonb),
               :actorId, :isHuman, :requestId, :holder, 'running',
               case when :kind = 'move' then jsonb_build_object('promoted',
                 (select coalesce(jsonb_agg(distinct each.merge), '[]')
                    from operations earlier, jsonb_array_elements(earlier.progress->'promoted') each(merge)
                   where earlier.card_id = :cardId and earlier.stage_id = :stageId and earlier.request_id = :requestId))
                 else '{}' end)`,
      { ...operation, cardId, stageId, releaseId, pickedCardId, input: JSON.stringify(input) },
    ),
  );
}

/** SQL for a digest of the progress of the operation `o`. */
const PROGRESS = `
  case when o.kind = 'move'
       then (select cast(count(*) as text) from forge_intents i where i.card_id = o.card_id and i.done)
       else md5(concat_ws('|', o.progress,
         (select string_agg(concat_ws(' ', t.repository_id, t.url), ',' order by t.repository_id)
            from release_tags t where t.release_id = o.release_id),
         (select string_agg(concat_ws(' ', b.repository_id, b.head_sha), ',' order by b.repository_id)
            from release_branches b where b.release_id = o.release_id),
         (select count(*) from release_promotions p where p.operation_id = o.id and p.state = 'pending'))) end`;

interface Takeover {
  readonly generation: number;
  /** How many processes in a row died while they owned it, without progress. */
  readonly crashes: number;
}

/**
 * Takes over an operation that no live process owns, also one that waits. Null if another process
 * took it over first. If the previous owner did not free the operation, it died, and its death is
 * counted. The values that are given replace those of the operation.
 */
export async function takeOverOperation(
  db: Db,
  { id, generation }: OwnedOperation,
  by: {
    readonly holder: string;
    readonly requestId?: string;
    readonly input?: unknown;
    readonly actorId?: string;
    readonly isHuman?: boolean;
  },
): Promise<Takeover | null> {
  const { holder, requestId = null, input, actorId = null, isHuman = null } = by;
  return firstRow<Takeover>(
    db,
    `update operations o
        set state = 'running', holder = :holder, generation = o.generation + 1, updated_at = now(),
            request_id = coalesce(:requestId, o.request_id), attempt_id = coalesce(current_attempt(), o.attempt_id),
            input = coalesce(cast(:input as jsonb), o.input), actor_id = coalesce(cast(:actorId as uuid), o.actor_id),
            is_human = coalesce(cast(:isHuman as boolean), o.is_human), progress_digest = ${PROGRESS},
            failures = case when o.state = 'waiting' then 0 else o.failures end,
            crashes = case when o.state = 'waiting' then 0 when o.holder is null then o.crashes when o.progress_digest = ${PROGRESS} then o.crashes + 1 else 1 end
      where o.id = :id and o.generation = :generation and o.state in ('running', 'queued', 'waiting') and not ${isAliveSql("o.holder")}
      returning o.generation, o.crashes`,
    {
      id,
      generation,
      holder,
      requestId,
      actorId,
      isHuman,
      input: input === undefined ? null : JSON.stringify(input),
    },
  );
}

/** Frees an unfinished operation after a failure or a timeout, so that a retry or a job continues it. */
export const freeOperation = (db: Db, operation: OwnedOperation, hasFailed: boolean): Promise<boolean> =>
  updateOwned(
    db,
    operation,
    "state = 'running', holder = null, failures = case when :hasFailed then failures + 1 else 0 end",
    { hasFailed },
  );

/**
 * Ends an operation, lets a move wait, or leaves it to GitHub, which has accepted the merge. False if
 * another process owns it; the caller must then roll back its transaction.
 */
export const finishOperation = (
  db: Db,
  operation: OwnedOperation,
  state: Exclude<AnyOperation["state"], "running">,
  result: unknown = null,
): Promise<boolean> =>
  updateOwned(db, operation, "state = :state, holder = null, failures = 0, result = cast(:result as jsonb)", {
    state,
    result: result === null ? null : JSON.stringify(result),
  });

/** Saves what a later attempt needs to continue. False if another process owns the operation. */
export const saveProgress = (db: Db, operation: OwnedOperation, progress: unknown): Promise<boolean> =>
  updateOwned(db, operation, "progress = cast(:progress as jsonb)", { progress: JSON.stringify(progress) });

const updateOwned = (
  db: Db,
  { id, generation }: OwnedOperation,
  changes: string,
  bindings: Readonly<Record<string, string | boolean | null>>,
): Promise<boolean> =>
  exists(
    db,
    `update operations set ${changes}, updated_at = now()
      where id = :id and generation = :generation and state in ('running', 'queued') returning 1`,
    { ...bindings, id, generation },
  );

/** Whether this process still owns the operation. In a transaction, nobody takes it over until that ends. */
export const ownsOperation = (db: Db | Trx, { id, generation }: OwnedOperation): Promise<boolean> =>
  exists(
    db,
    "select 1 from operations where id = :id and generation = :generation and state = 'running' for share",
    { id, generation },
  );

/** An operation of the board, or null. */
export const findOperation = (db: Db, workspaceId: string, id: string): Promise<Operation | null> =>
  firstRow<Operation>(db, `${OPERATION} where o.id = :id and o.workspace_id = :workspaceId`, {
    workspaceId,
    id,
  });

/** The webhook about a merge that GitHub has accepted may be lost. */
const IS_OVERDUE = "o.state = 'queued' and o.updated_at < now() - interval '5 minutes'";

const REPOSITORIES = `
  select cr.repository_id from card_repositories cr where cr.card_id = o.card_id
   union all
  select linked.id from repositories linked join releases r on r.project_id = linked.project_id
   where r.id = o.release_id`;

/**
 * Lists operations that no live process works on and whose repositories GitHub does not limit, the
 * longest waiting of each board first. The pause grows with each failure or death of a process. A
 * move whose merge GitHub has accepted is included after five minutes.
 */
export const listOrphans = (
  db: Db,
  limit: number,
): Promise<{ readonly id: string; readonly workspaceId: string }[]> =>
  rows(
    db,
    `select o.id, o.workspace_id as "workspaceId" from operations o
      where not ${isAliveSql("o.holder")} and not ${isLimitedSql(REPOSITORIES)}
        and (${IS_OVERDUE} or o.state = 'running' and
             o.updated_at < now() - power(2, least(greatest(o.failures + o.crashes, 1), 8)) * interval '1 second')
      order by row_number() over (partition by o.workspace_id order by o.updated_at), o.updated_at
      limit :limit`,
    { limit },
  );

/** The unfinished operation if no live process owns it, or null. A queued one only when it is overdue. */
export const findOrphan = (db: Db, id: string): Promise<Operation | null> =>
  firstRow<Operation>(
    db,
    `${OPERATION} where o.id = :id and (o.state = 'running' or ${IS_OVERDUE}) and not ${isAliveSql("o.holder")}`,
    { id },
  );
