import type { Task, TaskList } from "graphile-worker";
import type { Deps } from "../actions/deps.ts";
import { ForgeLimited } from "../forge/values.ts";
import { addJob } from "../store/db/jobs.ts";

/**
 * If a job fails because of GitHub's rate limit, adds it again for the time at which the limit
 * ends. The failure does not count as an attempt.
 */
export const waitForLimits = (deps: Deps, tasks: Readonly<Record<string, Task>>): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]): [string, Task] => [
      name,
      async (payload, helpers) => {
        try {
          await task(payload, helpers);
        } catch (error) {
          if (!(error instanceof ForgeLimited)) throw error;
          await runLater(deps, name, payload, helpers, error);
        }
      },
    ]),
  );

/** Jobs of the timetable have no key. One of each is enough. */
async function runLater(
  { db, log }: Deps,
  name: string,
  payload: unknown,
  helpers: Parameters<Task>[1],
  { until, retryAfter }: ForgeLimited,
): Promise<void> {
  const queue = await helpers.getQueueName();
  await addJob(db, name, Object(payload), {
    key: helpers.job.key ?? name,
    delayMs: retryAfter * 1_000,
    maxAttempts: helpers.job.max_attempts,
    ...(queue !== null && { queue }),
  });
  log.info({ task: name, until }, "a job waits until GitHub's limit ends");
}
