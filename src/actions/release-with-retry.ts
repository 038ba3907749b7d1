import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

/** Pauses between attempts, in milliseconds; the last one repeats. */
const PAUSES_MS = [250, 1_000, 4_000, 15_000, 30_000] as const;

/**
 * Releases something this process holds. If the database cannot be reached, it tries again in the background until it succeeds or
 * the process ends, because nobody else may take what a live process holds. Never throws. `what` names it in the log.
 */
export async function releaseWithRetry(
  log: Logger,
  what: string,
  release: () => Promise<unknown>,
): Promise<void> {
  try {
    await release();
  } catch (error) {
    log.warn({ err: error }, `${what} could not be released yet`);
    void retry(log, what, release);
  }
}

async function retry(log: Logger, what: string, release: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    await sleep(PAUSES_MS[tries] ?? 30_000, undefined, { ref: false });
    try {
      await release();
      return;
    } catch (error) {
      log.debug({ err: error }, `${what} could still not be released`);
    }
  }
}
