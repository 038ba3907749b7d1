import type { ForgeLog } from "./context.ts";

/** Work that continues after the response. */
export function makeBackground(log: ForgeLog) {
  const running = new Set<Promise<void>>();
  const controller = new AbortController();
  return {
    inBackground: (work: () => Promise<void>): void => {
      const run = work()
        .catch((error: unknown) => log.error({ err: error }, "background work of the forge failed"))
        .finally(() => running.delete(run));
      running.add(run);
    },
    /** Waits up to `ms` until all work is done. */
    async waitUntilIdle(ms: number): Promise<void> {
      const timeout = new Promise((resolve) => setTimeout(resolve, ms).unref());
      await Promise.race([Promise.all(running), timeout]);
    },
    /** Aborted when the forge stops. */
    stopping: controller.signal,
    stop: () => controller.abort(),
  };
}

/** Runs one function at a time for each key, in the order of the calls. */
export function makeKeyedQueue(): <T>(key: number, work: () => Promise<T>) => Promise<T> {
  const tails = new Map<number, Promise<unknown>>();
  return async (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const run = before.then(work, work);
    const tail = run.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await run;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
