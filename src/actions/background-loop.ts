import { setTimeout as sleep } from "node:timers/promises";

/** A loop that each process runs from its start to its end. */
export interface BackgroundLoop {
  start(): void;
  /** Resolves when the running step has ended. Other processes, or the next one, do the remaining work. */
  stop(): Promise<void>;
}

/**
 * Creates a loop that repeats `step`, which handles its own errors and returns the pause after it in
 * milliseconds. The signal aborts when the loop is stopped.
 */
export function createLoop(step: (signal: AbortSignal) => Promise<number>): BackgroundLoop {
  const ending = new AbortController();
  let running = Promise.resolve();

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const pauseMs = await step(ending.signal);
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}
