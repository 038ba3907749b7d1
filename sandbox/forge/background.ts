import type { ForgeLog } from "./context.ts";

/** Work that goes on after an answer. */
export interface Background {
  readonly later: (work: () => Promise<void>) => void;
  /** Waits until all of it is done, at most this long. */
  waitUntilIdle(ms: number): Promise<void>;
  /** Aborted when the forge stops. */
  readonly ending: AbortSignal;
  readonly end: () => void;
}

export function makeBackground(log: ForgeLog): Background {
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  return {
    later(work) {
      const run = work()
        .catch((error: unknown) => log.error({ err: error }, "background work of the forge failed"))
        .finally(() => running.delete(run));
      running.add(run);
    },
    async waitUntilIdle(ms) {
      const late = new Promise((resolve) => setTimeout(resolve, ms).unref());
      await Promise.race([Promise.all(running), late]);
    },
    ending: ending.signal,
    end: () => ending.abort(),
  };
}

/** Lets one piece of work run at a time for each key, in the order asked for. */
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
