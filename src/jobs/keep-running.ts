import { setTimeout as sleep } from "node:timers/promises";
import type { Runner } from "graphile-worker";
import type { Logger } from "pino";

/** How long to wait before a worker that could not be started is tried again, in milliseconds. */
const RETRY_MS = 2_000;

/**
 * Starts a worker, and starts it again when it stops by itself, as it does when PostgreSQL is away
 * while a job ends. Throws when the first start fails. The result stops it for good.
 */
export async function keepRunning(start: () => Promise<Runner>, log: Logger): Promise<() => Promise<void>> {
  const ending = new AbortController();
  const { signal } = ending;
  const asked = new Promise<"asked">((resolve) => {
    signal.addEventListener("abort", () => resolve("asked"));
  });

  async function startAgain(): Promise<Runner | null> {
    while (!signal.aborted) {
      try {
        return await start();
      } catch (error) {
        log.warn({ err: error }, "the job worker could not be started again");
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  async function watch(first: Runner): Promise<void> {
    for (let runner: Runner | null = first; runner !== null; runner = await startAgain()) {
      const why = await Promise.race([runner.promise, asked]);
      // `stop` rejects for a worker that is stopping by itself.
      if (why === "asked") return runner.stop().catch(() => runner?.promise);
      log.warn("the job worker stopped and is started again");
    }
  }

  const watching = watch(await start());
  return () => {
    ending.abort();
    return watching;
  };
}
