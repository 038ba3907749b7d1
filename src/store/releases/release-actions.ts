import { columnsOf, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { isLimitedSql } from "../forge/forge-limits.ts";
import { isAliveSql } from "../ops/instances.ts";
import type { Takeover } from "../ops/operations.ts";

export type ReleaseActionKind = "freeze" | "unfreeze" | "pick" | "promote" | "complete";

/** `generation` is a fencing token: a process with an older one may not write. */
export interface ReleaseAction {
  readonly id: string;
  readonly workspaceId: string;
  readonly releaseId: string;
  readonly kind: ReleaseActionKind;
  /** The parameters of the request. */
  readonly input: unknown;
  readonly actorId: string;
  /** Whether the actor used a session of the console, not an API key. */
  readonly isHuman: boolean;
  readonly requestId: string;
  readonly state: "running" | "done" | "refused" | "abandoned";
  readonly generation: number;
  /** The attempt of the audit log that began it or took it over last. */
  readonly attemptId: string | null;
  /** The promotion moves no further card, and ends. */
  readonly isCancelled: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** What a later attempt needs to continue. */
  readonly progress: unknown;
  /** Whether a live process is working on it. */
  readonly hasLiveOwner: boolean;
}

/** An action that this process owns. */
export type OwnedAction = Pick<ReleaseAction, "id" | "generation">;

const ACTION = `
  select a.id, a.workspace_id as "workspaceId", a.release_id as "releaseId", a.kind, a.input, a.actor_id as "actorId", a.is_human as "isHuman",
         a.request_id as "requestId", a.state, a.generation, a.attempt_id as "attemptId", a.failures, a.progress,
         a.cancelled_at is not null as "isCancelled", ${isAliveSql("a.holder")} as "hasLiveOwner"
    from release_actions a`;

/** The unfinished action on a release, or null. */
export async function findOpenAction(db: Db, releaseId: string): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(db, `${ACTION} where a.release_id = :releaseId and a.state = 'running'`, {
    releaseId,
  });
}

/** The running or successful action that an earlier attempt of the same request started. */
export async function findActionOfRequest(
  db: Db,
  releaseId: string,
  requestId: string,
): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(
    db,
    `${ACTION} where a.request_id = :requestId and a.release_id = :releaseId and a.state in ('running', 'done')
        and a.created_at > now() - interval '24 hours'
      order by a.created_at desc limit 1`,
    { releaseId, requestId },
  );
}

export async function findAction(
  db: Db,
  workspaceId: string,
  actionId: string,
): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(db, `${ACTION} where a.id = :actionId and a.workspace_id = :workspaceId`, {
    workspaceId,
    actionId,
  });
}

/** The workspace of an action, or null if there is no such action. */
export async function findWorkspaceOfAction(db: Db, actionId: string): Promise<string | null> {
  const workspace = `select workspace_id from release_actions where id = :actionId`;
  return firstValue<string>(db, workspace, { actionId });
}

/** Marks an unfinished action as cancelled. Null if it has ended; `isNew` unless it was marked before. */
export const markCancelled = (trx: Trx, actionId: string): Promise<{ readonly isNew: boolean } | null> =>
  firstRow(
    trx,
    `update release_actions set cancelled_at = coalesce(cancelled_at, now())
      where id = :actionId and state = 'running' returning cancelled_at = now() as "isNew"`,
    { actionId },
  );

/** The name of a release that one of these cards is being picked into, or null. */
export async function findRunningPick(db: Db, cardIds: readonly string[]): Promise<string | null> {
  return firstValue<string>(
    db,
    `select r.name from release_actions a join releases r on r.id = a.release_id
      where a.card_id = any(:cardIds) and a.state = 'running' limit 1`,
    { cardIds: [...cardIds] },
  );
}

interface NewReleaseAction extends Pick<
  ReleaseAction,
  "id" | "workspaceId" | "releaseId" | "kind" | "input" | "actorId" | "isHuman" | "requestId"
> {
  readonly cardId: string | null;
  readonly holder: string;
}

export async function insertAction(db: Db, action: NewReleaseAction): Promise<void> {
  const input = JSON.stringify(action.input);
  await db("release_actions").insert(columnsOf({ ...action, input, state: "running" }));
}

/** SQL for a digest of the progress of the action `a`. */
const PROGRESS = `
  md5(concat_ws('|', a.progress,
    (select string_agg(concat_ws(' ', t.repository_id, t.url), ',' order by t.repository_id)
       from release_tags t where t.release_id = a.release_id),
    (select string_agg(concat_ws(' ', b.repository_id, b.head_sha), ',' order by b.repository_id)
       from release_branches b where b.release_id = a.release_id),
    (select count(*) from release_promotions p where p.action_id = a.id and p.state = 'pending')))`;

/**
 * Takes over an action that no live process owns, as `takeOverOperation` does for a move. Null if another
 * process took it over first. Without `requestId` the action keeps its request.
 */
export async function takeOverAction(
  db: Db,
  action: OwnedAction,
  by: { holder: string; requestId: string | null; input?: unknown; actorId?: string; isHuman?: boolean },
): Promise<Takeover | null> {
  return firstRow<Takeover>(
    db,
    `update release_actions a
        set holder = :holder, generation = a.generation + 1, updated_at = now(),
            request_id = coalesce(:requestId, a.request_id), attempt_id = coalesce(current_attempt(), a.attempt_id),
            input = coalesce(cast(:input as jsonb), a.input), actor_id = coalesce(cast(:actorId as uuid), a.actor_id),
            is_human = coalesce(cast(:isHuman as boolean), a.is_human), progress_digest = ${PROGRESS},
            crashes = case when a.holder is null then a.crashes when a.progress_digest = ${PROGRESS} then a.crashes + 1 else 1 end
      where a.id = :id and a.generation = :generation and a.state = 'running' and not ${isAliveSql("a.holder")}
      returning generation, crashes`,
    {
      actorId: null,
      isHuman: null,
      ...by,
      input: by.input === undefined ? null : JSON.stringify(by.input),
      id: action.id,
      generation: action.generation,
    },
  );
}

/** Ends an action. False if another process owns it; the caller must then roll back. */
export async function finishAction(
  db: Db,
  action: OwnedAction,
  state: "done" | "refused" | "abandoned",
): Promise<boolean> {
  return (await owned(db, action).update({ state, holder: null, updated_at: db.fn.now() })) === 1;
}

/** Frees an action after a failure or a timeout, so that another attempt continues it. */
export async function freeAction(db: Db, action: OwnedAction, hasFailed: boolean): Promise<void> {
  await owned(db, action).update({
    holder: null,
    failures: hasFailed ? db.raw("failures + 1") : 0,
    updated_at: db.fn.now(),
  });
}

/** Saves what a later attempt needs to continue. False if another process owns the action. */
export async function saveProgress(db: Db, action: OwnedAction, progress: unknown): Promise<boolean> {
  const changes = { progress: JSON.stringify(progress), updated_at: db.fn.now() };
  return (await owned(db, action).update(changes)) === 1;
}

/** Checked before each writing call to GitHub. In a transaction it locks the action. */
export async function ownsAction(db: Db, action: OwnedAction): Promise<boolean> {
  return (await owned(db, action).update({ updated_at: db.fn.now() })) === 1;
}

const owned = (db: Db, { id, generation }: OwnedAction) =>
  db("release_actions").where({ id, generation, state: "running" });

const REPOSITORIES = `
  select linked.id from repositories linked join releases open on open.project_id = linked.project_id
   where open.id = a.release_id`;

/**
 * Lists actions without a live process whose repositories GitHub does not limit, the longest
 * waiting of each board first.
 */
export async function listOrphanedActions(db: Db, limit: number): Promise<ReleaseAction[]> {
  return rows<ReleaseAction>(
    db,
    `${ACTION} where a.state = 'running' and not ${isAliveSql("a.holder")} and not ${isLimitedSql(REPOSITORIES)}
        and a.updated_at < now() - power(2, least(a.failures + 1, 8)) * interval '1 second'
      order by row_number() over (partition by a.workspace_id order by a.updated_at), a.updated_at
      limit :limit`,
    { limit },
  );
}

/** The action if no live process owns it, or null. */
export async function findUnownedAction(db: Db, actionId: string): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(
    db,
    `${ACTION} where a.id = :actionId and a.state = 'running' and not ${isAliveSql("a.holder")}`,
    { actionId },
  );
}
