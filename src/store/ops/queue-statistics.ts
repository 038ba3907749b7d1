import { firstRow, firstValue, type Db } from "../db/connect.ts";

/** Ages are those of the oldest entry, in seconds; 0 if there is none. */
export interface QueueStatistics {
  /** Due jobs that no worker is running. */
  readonly queueDepth: number;
  readonly queueAge: number;
  readonly failedJobs: number;
  /** Deliveries that are not yet processed. */
  readonly waiting: number;
  readonly waitingAge: number;
  readonly parked: number;
  /** Committed events that have no number yet. */
  readonly eventsAge: number;
  /** Events that a webhook which is not paused has not received. */
  readonly webhooksAge: number;
  /** Webhooks that the service has paused. */
  readonly webhooksPaused: number;
}

const OLDEST_UNSENT = `(
  select min(e.numbered_at) from webhooks w
    join lateral (select numbered_at from events e where e.workspace_id = w.workspace_id and e.seq > w.position
                   order by e.seq limit 1) e on true
   where w.paused_reason is null)`;

/** Reads graphile-worker's table, because its view lacks the indexed column `is_available`. */
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
            ${ageOf("(select min(written_at) from events where seq is null)")} as "eventsAge",
            ${ageOf(OLDEST_UNSENT)} as "webhooksAge",
            (select count(*) from webhooks where paused_reason in ('failing', 'gone', 'left')) as "webhooksPaused",
            (select count(*) from graphile_worker._private_jobs
              where attempts >= max_attempts and locked_at is null) as "failedJobs"
       from due, waiting`,
  );
  if (!found) throw new Error("The queue statistics returned no row.");
  return found;
}

const ageOf = (column: string): string =>
  `cast(coalesce(extract(epoch from now() - ${column}), 0) as double precision)`;

/** PostgreSQL's version as a number: 180004 is 18.4. */
export async function readDatabaseVersion(db: Db): Promise<number> {
  const version = "select cast(current_setting('server_version_num') as integer) as version";
  return (await firstValue<number>(db, version, {})) ?? 0;
}
