import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger as WorkerLogger, run, type Runner, type TaskList, type WorkerEvents } from "graphile-worker";
import type { Logger } from "pino";
import type { Deps } from "../actions/deps.ts";
import { clientClassOf } from "../store/db/connect.ts";
import { openJobPool } from "../store/db/jobs.ts";
import { TIMETABLE } from "../store/jobs.ts";
import type { Retention } from "../store/ops/retention.ts";
import { BoardShares } from "./board-shares.ts";
import { trackReceivedJobs, startHeartbeat } from "./heartbeat.ts";
import { createTasks, scheduleAtStart } from "./tasks.ts";

/** The pause before a worker is started again, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * A pool of workers. `promise` settles when the pool has stopped, whether `stop` was called or not.
 */
export type RunningPool = Pick<Runner, "promise" | "stop">;

/**
 * Starts a worker, and restarts it when it stops unexpectedly, as it does when PostgreSQL is
 * unreachable while a job ends. Throws when the first start fails. Returns a function that stops
 * it.
 */
export async function keepRunning(
  start: () => Promise<RunningPool>,
  log: Logger,
): Promise<() => Promise<void>> {
  const ending = new AbortController();
  const { signal } = ending;
  const stopped = new Promise<"stopped">((resolve) => {
    signal.addEventListener("abort", () => resolve("stopped"));
  });

  async function restart(): Promise<RunningPool | null> {
    for (;;) {
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return null;
      try {
        return await start();
      } catch (error) {
        log.warn({ err: error }, "the job worker could not be restarted");
      }
    }
  }

  async function watch(first: RunningPool): Promise<void> {
    for (let runner: RunningPool | null = first; runner !== null; runner = await restart()) {
      const end = await Promise.race([runner.promise, stopped]);
      // `stop` rejects for a worker that is already stopping.
      if (end === "stopped") return runner.stop().catch(() => runner?.promise);
      log.warn("the job worker stopped and is restarted");
    }
  }

  const watching = watch(await start());
  return () => {
    ending.abort();
    return watching;
  };
}

/**
 * Resolves when a pool has to be replaced and none of its jobs is running. With graphile-worker 0.17
 * there are two reasons:
 *
 * - The end of a job could not be recorded. The pool stops, but its own promise may never settle: it
 *   subtracts each failed record from a count that includes only the first.
 * - The first query for jobs failed. The pool keeps the failed result of reading its tasks' ids, and
 *   never finds a job.
 */
function untilBroken(events: WorkerEvents): Promise<void> {
  const busy = new Set<string>();
  let isBroken = false;
  let hasQueried = false;
  return new Promise((resolve) => {
    const resolveIfIdle = (): void => {
      if (isBroken && busy.size === 0) resolve();
    };
    for (const answer of ["worker:getJob:empty", "job:start"] as const) {
      events.once(answer, () => {
        hasQueried = true;
      });
    }
    events.on("worker:getJob:error", () => {
      if (hasQueried) return;
      isBroken = true;
      resolveIfIdle();
    });
    events.on("job:start", ({ worker }) => busy.add(worker.workerId));
    events.on("job:complete", ({ worker }) => {
      busy.delete(worker.workerId);
      resolveIfIdle();
    });
    events.on("pool:fatalError", () => {
      isBroken = true;
      resolveIfIdle();
    });
  });
}

/** Recording the end of a job takes less, in milliseconds. If not, the next poll finds what waits. */
const RECORDED_MS = 25;

/**
 * Makes an idle worker look for jobs after a job of a queue has ended. The worker of that job looks
 * before its end is recorded, so it does not find the next job of the same queue.
 */
function nudgeAfterQueued(events: WorkerEvents): void {
  events.on("pool:create", ({ workerPool }) => {
    let isEnding = false;
    // A nudge of a released worker throws.
    events.on("worker:release", () => (isEnding = true));
    events.on("job:complete", ({ job }) => {
      if (job.job_queue_id === null) return;
      setTimeout(() => !isEnding && workerPool.nudge(1), RECORDED_MS).unref();
    });
  });
}

interface RunningWorker {
  /** Starts no more jobs, and resolves when the running ones have ended. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  readonly followsTimetable: boolean;
  readonly retention: Retention;
  /** The interval between checks for due jobs, in milliseconds. */
  readonly pollMs: number;
}

/** How many jobs of each kind a process runs at a time, and how many of them of one board. */
export const WORKERS = {
  lanes: { running: 4, boardRunning: 3 },
  // No job of the timetable is about a board.
  repairs: { running: 2, boardRunning: 2 },
  moves: { running: 8, boardRunning: 4 },
} as const;
/** Each kind listens on one connection. The others find jobs and record their ends. */
const CONNECTIONS = Object.keys(WORKERS).length + 5;
/**
 * With a batch delay, even of 0, a stopping worker waits until the ends of its jobs are recorded,
 * and a worker that cannot record an end stops. Without a delay, that failure is an unhandled
 * rejection, which ends the process.
 */
const JOB_ENDS = { completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const LOGGED_LEVELS: ReadonlySet<string> = new Set(["error"]);

/** Starts this process's job workers and heartbeat. If it throws, none runs. */
export async function startWorker(
  deps: Deps,
  connectionString: string,
  { followsTimetable, retention, pollMs }: WorkerOptions,
): Promise<RunningWorker> {
  const log = deps.log.child({ part: "jobs" });
  // A job is locked under the id of the pool, not of the worker that runs it.
  const workerIds = new Set<string>();
  const receivedJobs = trackReceivedJobs({ db: deps.db, log });
  const heartbeat = await startHeartbeat(deps, workerIds, receivedJobs);
  const pool = openJobPool({
    connectionString,
    max: CONNECTIONS,
    Client: clientClassOf(deps.db),
    onError: (error) => log.warn({ err: error }, "a database connection broke"),
  });
  const start = async (
    tasks: TaskList,
    { running, boardRunning }: (typeof WORKERS)[keyof typeof WORKERS],
    crontab: string,
  ): Promise<RunningPool> => {
    const shares = new BoardShares(boardRunning);
    const events: WorkerEvents = new EventEmitter();
    const ownIds = new Set<string>();
    events.on("pool:create", ({ workerPool }) => {
      ownIds.add(workerPool.id);
      workerIds.add(workerPool.id);
    });
    events.on("job:start", ({ job: { id, locked_at } }) => {
      if (locked_at !== null) receivedJobs.received({ id, lockedAt: locked_at });
    });
    const broken = untilBroken(events);
    nudgeAfterQueued(events);
    const runner = await run({
      pgPool: pool,
      concurrency: running,
      pollInterval: pollMs,
      noHandleSignals: true,
      taskList: shares.limit(deps.db, tasks),
      forbiddenFlags: () => shares.full(),
      crontab,
      events,
      preset: { worker: JOB_ENDS },
      // graphile-worker's own messages are for debugging; tasks log their failures themselves.
      logger: new WorkerLogger(() => (level, message) => {
        if (LOGGED_LEVELS.has(level)) log.error(message);
        else log.trace(message);
      }),
    });
    // Ends the timetable of the broken pool.
    broken.then(() => runner.stop()).catch(() => undefined);
    const ended = Promise.race([runner.promise, broken]).finally(() => {
      for (const id of ownIds) workerIds.delete(id);
    });
    return { promise: ended, stop: () => Promise.race([runner.stop(), broken]) };
  };
  const tasks = createTasks(deps, retention);
  const timetable = followsTimetable ? TIMETABLE : "";
  const stops: (() => Promise<void>)[] = [];
  const stopAll = () => Promise.all(stops.map((stop) => stop()));
  try {
    for (const kind of ["lanes", "repairs", "moves"] as const) {
      const crontab = kind === "repairs" ? timetable : "";
      stops.push(await keepRunning(() => start(tasks[kind], WORKERS[kind], crontab), log));
    }
    if (followsTimetable) await scheduleAtStart(deps.db);
  } catch (error) {
    // The heartbeat alone would keep the process running.
    await Promise.allSettled([stopAll(), heartbeat.stop()]);
    await pool.end();
    throw error;
  }
  return {
    stop: async () => {
      await stopAll();
      await pool.end();
      await heartbeat.stop();
    },
  };
}
