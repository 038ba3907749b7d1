import { column, rows, type Db, type Trx } from "../db/connect.ts";

/** How long a process may be silent before what it holds is free for others, in seconds. */
export const SILENCE_SECONDS = 15;
/** How often a process says that it is alive, in milliseconds. */
export const HEARTBEAT_MS = 4_000;

/** SQL that is true where `column` names a process that is still alive. */
export const isHeld = (column: string): string =>
  `exists (select 1 from instances i where i.id = ${column} and i.seen_at > now() - interval '${SILENCE_SECONDS} seconds')`;

/** Says that this process and its job workers are alive. Only the database's clock counts. */
export async function heartbeat(db: Db, instanceId: string, workerIds: readonly string[]): Promise<void> {
  await db.raw(
    `insert into instances (id, worker_ids) values (:instanceId, cast(:workerIds as text[]))
     on conflict (id) do update set seen_at = now(), worker_ids = excluded.worker_ids`,
    { instanceId, workerIds: [...workerIds] },
  );
}

const IS_OF_DEAD = `
  j.locked_by is not null and j.locked_at < now() - :graceSeconds * interval '1 second'
  and not exists (select 1 from instances i
                   where j.locked_by = any(i.worker_ids)
                     and i.seen_at > now() - interval '${SILENCE_SECONDS} seconds')`;

/** The queues in which a process that is dead was at work on such a job. */
export async function listDeadQueues(
  db: Db,
  task: string,
  graceSeconds = SILENCE_SECONDS,
): Promise<string[]> {
  return column<string>(
    db,
    `select distinct j.queue_name as queue from graphile_worker.jobs j
      where j.task_identifier = :task and j.queue_name is not null and ${IS_OF_DEAD}`,
    { task, graceSeconds },
  );
}

/** Keeps others from seeing to the same dead, until this transaction ends; false when somebody is at it already. */
export async function seeToDeadAlone(trx: Trx): Promise<boolean> {
  const [row] = await rows<{ isAlone: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(${SEEING_TO_DEAD}) as "isAlone"`,
  );
  return row?.isAlone === true;
}

/** Any number that all processes agree on. */
const SEEING_TO_DEAD = 7_411_206_002;

/**
 * Frees the jobs and queues of workers whose process is dead, which the job queue itself would hold for four hours. A lock younger than
 * `graceSeconds` is left: its worker may not have been announced yet.
 */
export async function freeDeadWorkers(db: Db, graceSeconds = SILENCE_SECONDS): Promise<void> {
  await db.raw(
    `select graphile_worker.force_unlock_workers(dead.ids)
       from (select array_agg(distinct j.locked_by) as ids from graphile_worker.jobs j
              where ${IS_OF_DEAD}) dead
      where dead.ids is not null`,
    { graceSeconds },
  );
  // A queue is locked and let go of together with a job of its own. One whose job was taken for a dead process's and ended twice is left locked.
  await db.raw(
    `update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
      where q.locked_at < now() - :graceSeconds * interval '1 second'
        and not exists (select 1 from graphile_worker._private_jobs j where j.job_queue_id = q.id and j.locked_by is not null)`,
    { graceSeconds },
  );
}

/** A job as a worker took it. */
export interface TakenJob {
  readonly id: string;
  /** Of its tries, this one included. */
  readonly attempts: number;
}

/** The jobs locked in the name of these workers, and whether for longer than word of that may be on its way. */
export const listLockedJobs = (
  db: Db,
  workerIds: readonly string[],
): Promise<(TakenJob & { readonly task: string; readonly isOld: boolean })[]> =>
  rows(
    db,
    `select j.id::text as id, j.attempts, j.task_identifier as task,
            j.locked_at < now() - interval '${SILENCE_SECONDS} seconds' as "isOld"
       from graphile_worker.jobs j where j.locked_by = any(cast(:workerIds as text[]))`,
    { workerIds: [...workerIds] },
  );

/** Lets go of jobs of these workers that were never begun, as if they had not been taken. */
export async function freeJobs(
  db: Db,
  workerIds: readonly string[],
  jobs: readonly TakenJob[],
): Promise<void> {
  await db.raw(
    `with freed as (
       update graphile_worker._private_jobs set locked_by = null, locked_at = null, attempts = greatest(0, attempts - 1)
        where id = any(cast(:ids as bigint[])) and locked_by = any(cast(:workerIds as text[]))
        returning job_queue_id)
     update graphile_worker._private_job_queues queue set locked_by = null, locked_at = null
       from freed where queue.id = freed.job_queue_id and queue.locked_by = any(cast(:workerIds as text[]))`,
    { ids: jobs.map(({ id }) => id), workerIds: [...workerIds] },
  );
}

/** Leaves at once, on a graceful end, so that nobody waits for this process. */
export async function leave(db: Db, instanceId: string): Promise<void> {
  await db("instances").where({ id: instanceId }).delete();
}

/** Declares all other processes dead, and gives how many there were. Only for a database that one process can use at a time. */
export async function declareOthersDead(db: Db, instanceId: string): Promise<number> {
  const gone = await rows(db, "delete from instances where id <> :instanceId returning id", { instanceId });
  return gone.length;
}

/** How many processes are alive. */
export async function countLiveInstances(db: Db): Promise<number> {
  const found = await rows<{ count: number }>(
    db,
    `select count(*) as count from instances where seen_at > now() - interval '${SILENCE_SECONDS} seconds'`,
  );
  return found[0]?.count ?? 0;
}
