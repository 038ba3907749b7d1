import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import { isHeld } from "../ops/instances.ts";
import type { TakenOver } from "../ops/operations.ts";

export type ReleaseActionKind = "freeze" | "unfreeze" | "pick" | "promote" | "complete";

/** What is being done to a release. `attempt` fences it: a holder whose attempt is no longer the row's may write nothing more. */
export interface ReleaseAction {
  readonly id: string;
  readonly workspaceId: string;
  readonly releaseId: string;
  readonly kind: ReleaseActionKind;
  /** What was asked for. */
  readonly input: unknown;
  readonly actorId: string;
  readonly requestId: string;
  readonly state: "running" | "done" | "refused" | "abandoned";
  readonly attempt: number;
  /** How often in a row it could not be gone on with. */
  readonly failures: number;
  /** What an earlier try left for the next to know. */
  readonly progress: unknown;
  /** Whether a live process is at work on it. */
  readonly isHeld: boolean;
}

/** An action as this process holds it. */
export type HeldAction = Pick<ReleaseAction, "id" | "attempt">;

const ACTION = `
  select a.id, a.workspace_id as "workspaceId", a.release_id as "releaseId", a.kind, a.input, a.actor_id as "actorId",
         a.request_id as "requestId", a.state, a.attempt, a.failures, a.progress, ${isHeld("a.holder")} as "isHeld"
    from release_actions a`;

/** The action on a release that has not ended, or null. */
export async function findOpenAction(db: Db, releaseId: string): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(db, `${ACTION} where a.release_id = :releaseId and a.state = 'running'`, {
    releaseId,
  });
}

/** What this very request asked for earlier, on this release: what is under way, or has ended well. */
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

/** An action of this board by its id, or null. */
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

/** The name of the release that a card is just being picked into, or null. */
export async function findPickUnderWay(db: Db, cardIds: readonly string[]): Promise<string | null> {
  return firstValue<string>(
    db,
    `select r.name from release_actions a join releases r on r.id = a.release_id
      where a.card_id = any(:cardIds) and a.state = 'running' limit 1`,
    { cardIds: [...cardIds] },
  );
}

interface NewReleaseAction {
  readonly id: string;
  readonly workspaceId: string;
  readonly releaseId: string;
  readonly kind: ReleaseActionKind;
  readonly input: unknown;
  readonly cardId: string | null;
  readonly actorId: string;
  readonly requestId: string;
  readonly holder: string;
}

export async function insertAction(db: Db, action: NewReleaseAction): Promise<void> {
  await db("release_actions").insert({
    id: action.id,
    workspace_id: action.workspaceId,
    release_id: action.releaseId,
    kind: action.kind,
    input: JSON.stringify(action.input),
    card_id: action.cardId,
    actor_id: action.actorId,
    request_id: action.requestId,
    holder: action.holder,
    state: "running",
  });
}

/** SQL for how far an action `a` has got, as one text. */
const GOT_TO = `
  md5(concat_ws('|', a.progress,
    (select string_agg(concat_ws(' ', t.repository_id, t.url), ',' order by t.repository_id)
       from release_tags t where t.release_id = a.release_id),
    (select string_agg(concat_ws(' ', b.repository_id, b.head_sha), ',' order by b.repository_id)
       from release_branches b where b.release_id = a.release_id),
    (select count(*) from release_promotions p where p.action_id = a.id and p.state = 'pending')))`;

/** Takes an action that nobody holds, as `takeOver` does a move; null when somebody was quicker. Without a request it stays the one's who asked for it. */
export async function takeOverAction(
  db: Db,
  action: HeldAction,
  by: { holder: string; requestId: string | null },
): Promise<TakenOver | null> {
  return firstRow<TakenOver>(
    db,
    `update release_actions a
        set holder = :holder, attempt = a.attempt + 1, updated_at = now(),
            request_id = coalesce(:requestId, a.request_id), got_to = ${GOT_TO},
            deaths = case when a.holder is null then a.deaths when a.got_to = ${GOT_TO} then a.deaths + 1 else 1 end
      where a.id = :id and a.attempt = :attempt and a.state = 'running' and not ${isHeld("a.holder")}
      returning attempt, deaths`,
    { ...by, id: action.id, attempt: action.attempt },
  );
}

/** Ends an action. False when it is no longer ours, and then nothing of the same transaction may be committed. */
export async function settleAction(
  db: Db,
  action: HeldAction,
  state: "done" | "refused" | "abandoned",
): Promise<boolean> {
  const settled = await ours(db, action).update({ state, holder: null, updated_at: db.fn.now() });
  return settled === 1;
}

/** Lets go of an action, for somebody to go on with it: after a failure, or because its time is up. */
export async function letGoOfAction(db: Db, action: HeldAction, hasFailed: boolean): Promise<void> {
  await ours(db, action).update({
    holder: null,
    failures: hasFailed ? db.raw("failures + 1") : 0,
    updated_at: db.fn.now(),
  });
}

/** Notes what the next try has to know; false when the action is no longer ours. */
export async function saveProgress(db: Db, action: HeldAction, progress: unknown): Promise<boolean> {
  const saved = await ours(db, action).update({
    progress: JSON.stringify(progress),
    updated_at: db.fn.now(),
  });
  return saved === 1;
}

/** Whether the action is still this holder's: asked before every writing call to the forge. The row is held in a transaction. */
export async function isActionOurs(db: Db, action: HeldAction): Promise<boolean> {
  const touched = await ours(db, action).update({ updated_at: db.fn.now() });
  return touched === 1;
}

const ours = (db: Db, { id, attempt }: HeldAction) =>
  db("release_actions").where({ id, attempt, state: "running" });

/** Actions that nobody is at work on, the longest waiting first: their process died, or the forge could not be reached. */
export async function listOrphanedActions(db: Db, limit: number): Promise<ReleaseAction[]> {
  return rows<ReleaseAction>(
    db,
    `${ACTION} where a.state = 'running' and not ${isHeld("a.holder")}
        and a.updated_at < now() - power(2, least(a.failures + 1, 8)) * interval '1 second'
      order by a.updated_at limit :limit`,
    { limit },
  );
}

/** Whether such an action is free to be gone on with. */
export async function findFreeAction(db: Db, actionId: string): Promise<ReleaseAction | null> {
  return firstRow<ReleaseAction>(
    db,
    `${ACTION} where a.id = :actionId and a.state = 'running' and not ${isHeld("a.holder")}`,
    { actionId },
  );
}
