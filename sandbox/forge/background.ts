import type { ForgeLog } from "./context.ts";

/** Work that goes on after an answer. */
export interface Background {
  readonly later: (work: () => Promise<void>) => void;
  /** Waits until all of it is done, at most this long. */
  settle(ms: number): Promise<void>;
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
    async settle(ms) {
      const late = new Promise((resolve) => setTimeout(resolve, ms).unref());
      await Promise.race([Promise.all(running), late]);
    },
    ending: ending.signal,
    end: () => ending.abort(),
  };
}
