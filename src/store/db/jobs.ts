import type { Job } from "graphile-worker";
import { type Client, Pool } from "pg";
import { RESPONSE_TIMEOUT_MS, KEEP_ALIVE, rows, type Db } from "./connect.ts";

interface JobPoolOptions {
  readonly connectionString: string;
  readonly max: number;
  /** False for statements that may take any time. */
  readonly hasTimeouts?: boolean;
  /** The class of the process's other pool. */
  readonly Client: typeof Client;
  /** Called when a connection breaks. */
  readonly onError: (error: Error) => void;
}

/**
 * Opens the pool of a job worker. A pool that graphile-worker opens has no error listeners while it
 * closes: losing PostgreSQL then would end the process.
 */
export function openJobPool({
  connectionString,
  max,
  hasTimeouts = true,
  Client,
  onError,
}: JobPoolOptions): Pool {
  const timeouts = { query_timeout: hasTimeouts ? RESPONSE_TIMEOUT_MS : 0, ...KEEP_ALIVE };
  // In pipeline mode pg closes a connection whose response takes too long, instead of reusing it.
  const options = { connectionString, max, application_name: "trunkline jobs", pipeline: true };
  const pool = new Pool({ ...options, ...timeouts, Client });
  // The pool adds the client to the error, which is too much for a log.
  const report = ({ message }: Error): void => onError(new Error(message));
  // Each client reports its own errors.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", report));
  return pool;
}

/** What a job is about. Its board follows from it. */
export type JobSubject =
  | { readonly boardId: string }
  | { readonly cardId: string }
  | { readonly commentId: string }
  | { readonly repositoryId: string }
  /** Of deliveries. */
  | { readonly lane: string };

interface JobOptions {
  /** The job counts against the share of its board, if it has one. */
  readonly about?: JobSubject;
  /** Jobs of one queue run one after the other. */
  readonly queue?: string | null;
  /** A waiting job with the same key is replaced. */
  readonly key?: string | null;
  /** The job starts no earlier than this many milliseconds from now. */
  readonly delayMs?: number;
  readonly maxAttempts?: number;
}

/** SQL for the board of a lane: that of its repository, or else the oldest board of the account. */
const boardOfLane = (lane: string): string => `
  select board.id
    from repositories r left join projects p on p.id = r.project_id
    join lateral (select w.id from workspaces w
                   where w.id = p.workspace_id or p.id is null and w.organization_id = r.organization_id
                   order by w.created_at, w.id limit 1) board on true
   where r.forge_id = cast(substring(${lane} from '^repository:([0-9]{1,18})$') as bigint)`;

/** SQL for the board of what a job is about. */
const boardOf = (about: JobSubject): string => {
  if ("lane" in about) return boardOfLane(":lane");
  if ("boardId" in about) return "select cast(:boardId as uuid)";
  if ("cardId" in about) return "select workspace_id from cards where id = :cardId";
  if ("commentId" in about)
    return "select c.workspace_id from timeline_items t join cards c on c.id = t.card_id where t.id = :commentId";
  return "select p.workspace_id from repositories r join projects p on p.id = r.project_id where r.id = :repositoryId";
};

const BOARD_FLAG = "board:";

/** SQL for the flags of a job of a board, by which workers give each board its share. */
const flagsOf = (board: string): string =>
  `(select array['${BOARD_FLAG}' || board.id] from (${board}) as board(id))`;

/** The flag and id of the board that a job counts against, or null. */
export function boardOfJob({
  flags,
}: Pick<Job, "flags">): { readonly flag: string; readonly id: string } | null {
  const flag = Object.keys(flags ?? {}).find((each) => each.startsWith(BOARD_FLAG));
  return flag === undefined ? null : { flag, id: flag.slice(BOARD_FLAG.length) };
}

/** Adds a job. In a transaction, the job exists only if the transaction commits. */
export async function addJob(
  db: Db,
  task: string,
  payload: object,
  { about, queue = null, key = null, delayMs = 0, maxAttempts = 25 }: JobOptions = {},
): Promise<void> {
  await db.raw(
    `select graphile_worker.add_job(:task, payload := cast(:payload as json), queue_name := :queue, job_key := :key,
              run_at := now() + :delayMs * interval '1 millisecond', max_attempts := :maxAttempts
              ${about ? `, flags := ${flagsOf(boardOf(about))}` : ""})`,
    { task, payload: JSON.stringify(payload), queue, key, delayMs, maxAttempts, ...about },
  );
}

const FAILED = "attempts >= max_attempts and locked_at is null";

/** Deletes the jobs of a task that failed at their last attempt. */
export async function deleteFailedJobs(db: Db, task: string): Promise<void> {
  await rows(
    db,
    `select 1 from graphile_worker.complete_jobs(array(
       select id from graphile_worker.jobs where task_identifier = :task and ${FAILED}))`,
    { task },
  );
}

/** Retries the jobs that failed at their last attempt, except those of `exceptTasks`. Returns their number. */
export async function retryFailedJobs(db: Db, exceptTasks: readonly string[]): Promise<number> {
  const retried = await rows(
    db,
    `select 1 from graphile_worker.reschedule_jobs(
       array(select id from graphile_worker.jobs where task_identifier <> all(cast(:exceptTasks as text[])) and ${FAILED}),
       run_at := now(), attempts := cast(0 as smallint))`,
    { exceptTasks: [...exceptTasks] },
  );
  return retried.length;
}

/** Adds jobs about lanes in one statement. A waiting job with the same key keeps its start time. */
export async function addJobsAboutLanes(
  db: Db,
  task: string,
  jobs: readonly {
    readonly lane: string;
    readonly payload: object;
    readonly key: string;
    readonly queue: string | null;
  }[],
): Promise<void> {
  // A fixed order prevents a deadlock between two callers that add the same jobs.
  const sorted = jobs.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  await rows(
    db,
    `select graphile_worker.add_job(:task, payload := cast(each.payload as json), queue_name := each.queue,
              job_key := each.key, max_attempts := 25, job_key_mode := 'preserve_run_at',
              flags := ${flagsOf(boardOfLane("each.lane"))})
       from unnest(cast(:lanes as text[]), cast(:payloads as text[]), cast(:queues as text[]), cast(:keys as text[]))
            each(lane, payload, queue, key)`,
    {
      lanes: sorted.map(({ lane }) => lane),
      task,
      payloads: sorted.map(({ payload }) => JSON.stringify(payload)),
      queues: sorted.map(({ queue }) => queue),
      keys: sorted.map(({ key }) => key),
    },
  );
}
