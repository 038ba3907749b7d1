import type { Task, TaskList } from "graphile-worker";
import type { Deps } from "../actions/deps.ts";
import { ForgeLimited } from "../forge/values.ts";
import { runAgain } from "./run-again.ts";

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
          await runAgain(deps.db, name, payload, helpers, error.retryAfter * 1_000);
          deps.log.info({ task: name, until: error.until }, "a job waits until GitHub's limit ends");
        }
      },
    ]),
  );
