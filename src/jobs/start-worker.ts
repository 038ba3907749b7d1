import { EventEmitter } from "node:events";
import { Logger as WorkerLogger, run, type WorkerEvents } from "graphile-worker";
import type { Deps } from "../actions/deps.ts";
import { addJob, openJobPool } from "../store/db/jobs.ts";
import type { Retention } from "../store/ops/retention.ts";
import { keepRunning } from "./keep-running.ts";
import { findLostJobs } from "./lost-jobs.ts";
import { startPulse } from "./pulse.ts";
import { AT_START, TIMETABLE, tasksOf } from "./tasks.ts";

export interface RunningWorker {
  /** Lets the jobs at work finish, takes no more, and resolves. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly followsTimetable: boolean;
  readonly retention: Retention;
  /** How often jobs whose time has come are looked for, in milliseconds. */
  readonly lookEveryMs: number;
}

const CONCURRENCY = 4;
/**
 * With a batch delay, even of 0, a worker that stops waits until the ends of its jobs are recorded,
 * and one that cannot record an end stops. Without a delay, that failure is an unhandled rejection,
 * which ends the process.
 */
const JOB_ENDS = { completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const TOLD_AS_ERRORS: ReadonlySet<string> = new Set(["error"]);

/** Starts working off jobs in this process, and its pulse. Any number of processes may do so on one database. Where it throws, nothing of it goes on. */
export async function startWorker(
  deps: Deps,
  connectionString: string,
  { followsTimetable, retention, lookEveryMs }: WorkerOptions,
): Promise<RunningWorker> {
  const log = deps.log.child({ part: "jobs" });
  const workerIds = new Set<string>();
  const events: WorkerEvents = new EventEmitter();
  // A job is locked in the pool's name, not in that of the worker at work on it.
  events.on("pool:create", ({ workerPool }) => workerIds.add(workerPool.id));
  // Jobs that a stopped worker left locked are then freed like those of a dead process.
  events.on("pool:release", ({ workerPool }) => workerIds.delete(workerPool.id));
  const lostJobs = findLostJobs({ db: deps.db, log });
  events.on("job:start", ({ job }) => lostJobs.given(job));
  const pulse = await startPulse(deps, workerIds, lostJobs);
  const pool = openJobPool(connectionString, CONCURRENCY + 2, (error) =>
    log.warn({ err: error }, "a database connection broke"),
  );
  const start = () =>
    run({
      pgPool: pool,
      concurrency: CONCURRENCY,
      pollInterval: lookEveryMs,
      noHandleSignals: true,
      taskList: tasksOf(deps, retention),
      crontab: followsTimetable ? TIMETABLE : "",
      events,
      preset: { worker: JOB_ENDS },
      // Its own chatter is for debugging; what fails is told where it fails.
      logger: new WorkerLogger(() => (level, message) => {
        if (TOLD_AS_ERRORS.has(level)) log.error(message);
        else log.trace(message);
      }),
    });
  let stopRunner: (() => Promise<void>) | undefined;
  try {
    stopRunner = await keepRunning(start, log);
    for (const task of followsTimetable ? AT_START : []) await addJob(deps.db, task, {}, { key: task });
  } catch (error) {
    // A pulse alone would keep a process alive that does nothing.
    await Promise.allSettled([stopRunner?.(), pulse.stop()]);
    await pool.end();
    throw error;
  }
  return {
    stop: async () => {
      await stopRunner();
      await pool.end();
      await pulse.stop();
    },
  };
}
