import { firstRow, type Db } from "../db/connect.ts";

/**
 * How many jobs and deliveries wait, and for how long. Ages are in seconds, 0 when nothing waits.
 */
interface QueueStatistics {
  /** Due jobs that no worker has taken. */
  readonly queueDepth: number;
  readonly queueAge: number;
  readonly failedJobs: number;
  /** Stored deliveries that are not yet processed. */
  readonly waiting: number;
  readonly waitingAge: number;
  readonly parked: number;
}

/**
 * Counts waiting jobs and deliveries. Reads graphile-worker's table rather than its view, because
 * the table has an index of available jobs. Partial indexes keep finished deliveries out of the
 * count.
 */
export async function readQueueStatistics(db: Db): Promise<QueueStatistics> {
  const found = await firstRow<QueueStatistics>(
    db,
    `with due as (
       select count(*) as depth, min(run_at) as since from graphile_worker._private_jobs
        where is_available = true and run_at <= now()),
     waiting as (
       select count(*) as depth, min(received_at) as since from deliveries where state = 'waiting')
     select due.depth as "queueDepth", ${ageOf("due.since")} as "queueAge",
            waiting.depth as "waiting", ${ageOf("waiting.since")} as "waitingAge",
            (select count(*) from deliveries where state = 'parked') as "parked",
            (select count(*) from graphile_worker._private_jobs
              where attempts >= max_attempts and locked_at is null) as "failedJobs"
       from due, waiting`,
  );
  if (!found) throw new Error("an aggregate that gave no row");
  return found;
}

const ageOf = (column: string): string =>
  `cast(coalesce(extract(epoch from now() - ${column}), 0) as double precision)`;

/** PostgreSQL's version, as 180004. */
export async function readDatabaseVersion(db: Db): Promise<number> {
  const found = await firstRow<{ version: number }>(
    db,
    "select cast(current_setting('server_version_num') as integer) as version",
  );
  return found?.version ?? 0;
}
