import { firstCharacters } from "../../flow/text.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";

/** Rows of a list on the operations page. */
const MAX_LISTED = 100;
/** In characters. */
const MAX_ERROR = 300;

/** The first line of an error. A failed statement is left out: only what PostgreSQL says is shown. */
function shortError(error: string | null): string | null {
  if (error === null) return null;
  // As knex reports it: `<statement> - <message>`.
  const isStatement = /^\s*(?:select|insert|update|delete|with)\b/.test(error) && error.includes(" - ");
  const text = isStatement ? error.slice(error.lastIndexOf(" - ") + 3) : error;
  return firstCharacters(text.trim().split("\n")[0] ?? "", MAX_ERROR);
}

interface DatabaseFacts {
  /** As in `18.4`. */
  readonly version: string;
  readonly name: string;
  readonly bytes: number;
  readonly connections: number;
  readonly maxConnections: number;
}

export async function readDatabaseFacts(db: Db): Promise<DatabaseFacts> {
  const facts = await firstRow<DatabaseFacts>(
    db,
    `select split_part(current_setting('server_version'), ' ', 1) as version, current_database() as name,
            pg_database_size(current_database()) as bytes,
            (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
            cast(current_setting('max_connections') as integer) as "maxConnections"`,
  );
  if (!facts) throw new Error("The facts of the database returned no row.");
  return facts;
}

interface TaskStatistics {
  readonly task: string;
  readonly due: number;
  readonly running: number;
  readonly later: number;
  /** At their last attempt. */
  readonly failed: number;
}

/** Counts the jobs of each task that has some. */
export const listTaskStatistics = (db: Db): Promise<TaskStatistics[]> =>
  rows<TaskStatistics>(
    db,
    `select task_identifier as task,
            count(*) filter (where locked_at is null and attempts < max_attempts and run_at <= now()) as due,
            count(*) filter (where locked_at is not null) as running,
            count(*) filter (where locked_at is null and attempts < max_attempts and run_at > now()) as later,
            count(*) filter (where locked_at is null and attempts >= max_attempts) as failed
       from graphile_worker.jobs group by task_identifier order by task_identifier`,
  );

interface FailedJob {
  readonly id: string;
  readonly task: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly failedAt: Date;
}

/** Lists the newest jobs that failed at their last attempt, without their payloads. */
export const listFailedJobs = async (db: Db): Promise<FailedJob[]> => {
  const failed = await rows<FailedJob>(
    db,
    `select cast(id as text) as id, task_identifier as task, attempts, last_error as error, updated_at as "failedAt"
       from graphile_worker.jobs where locked_at is null and attempts >= max_attempts
      order by updated_at desc, id desc limit ${MAX_LISTED}`,
  );
  return failed.map((job) => ({ ...job, error: shortError(job.error) }));
};

interface DescribedDelivery {
  readonly guid: string;
  readonly event: string;
  /** The name of a repository, the login of an account, or `app`. */
  readonly about: string;
  readonly attempts: number;
  /** Processes that died while they processed it. */
  readonly crashes: number;
  readonly error: string | null;
  readonly receivedAt: Date;
}

/** Lists the oldest parked deliveries, without their payloads. */
export async function listParked(db: Db): Promise<DescribedDelivery[]> {
  const parked = await rows<DescribedDelivery>(
    db,
    `select d.guid, d.event, coalesce(r.full_name, o.slug, d.lane) as about, d.attempts, d.crashes, d.error,
            d.received_at as "receivedAt"
       from deliveries d
       left join repositories r on d.lane = 'repository:' || r.forge_id
       left join organizations o on d.lane = 'installation:' || o.installation_id
      where d.state = 'parked' order by d.seq limit ${MAX_LISTED}`,
  );
  return parked.map((delivery) => ({ ...delivery, error: shortError(delivery.error) }));
}
