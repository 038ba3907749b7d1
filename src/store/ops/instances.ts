import { column, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { LOCK_IDS } from "../db/lock-ids.ts";

/** A process without a heartbeat for this long is dead, and others take over what it owned. */
const HEARTBEAT_TIMEOUT_SECONDS = 15;
export const HEARTBEAT_MS = 4_000;

/** SQL for whether the process in `column` is alive. */
export const isAliveSql = (column: string): string =>
  `exists (select 1 from instances i where i.id = ${column} and i.seen_at > now() - interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds')`;

/** Records by the database's clock that this process and its job workers are alive. */
export async function recordHeartbeat(
  db: Db,
  instanceId: string,
  workerIds: readonly string[],
  version: string,
): Promise<void> {
  await db.raw(
    `insert into instances (id, worker_ids, version) values (:instanceId, cast(:workerIds as text[]), :version)
     on conflict (id) do update set seen_at = now(), worker_ids = excluded.worker_ids`,
    { instanceId, workerIds: [...workerIds], version },
  );
}

const IS_LOCKED_BY_DEAD_WORKER = `
  j.locked_by is not null and j.locked_at < now() - :graceSeconds * interval '1 second'
  and not exists (select 1 from instances i
                   where j.locked_by = any(i.worker_ids)
                     and i.seen_at > now() - interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds')`;

/** Lists the queues in which a dead process was running a job of this task. */
export async function listQueuesOfDeadWorkers(
  db: Db,
  task: string,
  graceSeconds = HEARTBEAT_TIMEOUT_SECONDS,
): Promise<string[]> {
  return column<string>(
    db,
    `select distinct j.queue_name as queue from graphile_worker.jobs j
      where j.task_identifier = :task and j.queue_name is not null and ${IS_LOCKED_BY_DEAD_WORKER}`,
    { task, graceSeconds },
  );
}

/**
 * Takes a lock for unlocking the jobs of dead workers, which ends with the transaction. False if
 * another process has it.
 */
export async function mayUnlockDeadWorkers(trx: Trx): Promise<boolean> {
  const lock = `select pg_try_advisory_xact_lock(${LOCK_IDS.deadWorkers}) as "isLocked"`;
  return (await firstValue<boolean>(trx, lock, {})) === true;
}

/**
 * Unlocks the jobs and queues of dead workers, which graphile-worker would keep locked for four
 * hours. Keeps locks younger than `graceSeconds`: their worker may not be in `instances` yet.
 */
export async function unlockDeadWorkers(db: Db, graceSeconds = HEARTBEAT_TIMEOUT_SECONDS): Promise<void> {
  await db.raw(
    `select graphile_worker.force_unlock_workers(dead.ids)
       from (select array_agg(distinct j.locked_by) as ids from graphile_worker.jobs j
              where ${IS_LOCKED_BY_DEAD_WORKER}) dead
      where dead.ids is not null`,
    { graceSeconds },
  );
  // A job that ended twice, because its process was taken for dead, can leave its queue locked.
  await db.raw(
    `update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
      where q.locked_at < now() - :graceSeconds * interval '1 second'
        and not exists (select 1 from graphile_worker._private_jobs j where j.job_queue_id = q.id and j.locked_by is not null)`,
    { graceSeconds },
  );
}

/** A worker's lock of a job. `attempts` does not identify it: replacing a running job changes that. */
export interface JobLock {
  readonly id: string;
  readonly lockedAt: Date;
}

/** Lists the jobs that these workers have locked. `isOld`: for more than `HEARTBEAT_TIMEOUT_SECONDS`. */
export const listLockedJobs = (
  db: Db,
  workerIds: readonly string[],
): Promise<(JobLock & { readonly task: string; readonly isOld: boolean })[]> =>
  rows(
    db,
    `select j.id::text as id, j.locked_at as "lockedAt", j.task_identifier as task,
            j.locked_at < now() - interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds' as "isOld"
       from graphile_worker.jobs j where j.locked_by = any(cast(:workerIds as text[]))`,
    { workerIds: [...workerIds] },
  );

/** Unlocks jobs that these workers took but did not start. The attempt does not count. */
export async function unlockJobs(
  db: Db,
  workerIds: readonly string[],
  jobs: readonly JobLock[],
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

/** Removes this process when it ends, so that others do not wait for its heartbeat. */
export async function deleteInstance(db: Db, instanceId: string): Promise<void> {
  await db("instances").where({ id: instanceId }).delete();
}

/**
 * Removes all other processes and returns their number. Only for a database that one process at a
 * time can use.
 */
export async function deleteOtherInstances(db: Db, instanceId: string): Promise<number> {
  return db("instances").whereNot({ id: instanceId }).delete();
}

interface Instance {
  readonly id: string;
  readonly version: string | null;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly isAlive: boolean;
}

/** Lists the processes, the oldest first. A process that crashed stays listed for a day. */
export const listInstances = (db: Db): Promise<Instance[]> =>
  rows<Instance>(
    db,
    `select o.id, o.version, o.started_at as "startedAt", o.seen_at as "seenAt", ${isAliveSql("o.id")} as "isAlive"
       from instances o order by o.started_at, o.id`,
  );

export async function countLiveInstances(db: Db): Promise<number> {
  const live = `select count(*) from instances where seen_at > now() - interval '${HEARTBEAT_TIMEOUT_SECONDS} seconds'`;
  return (await firstValue<number>(db, live, {})) ?? 0;
}
