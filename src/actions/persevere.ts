import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";

/** Waits between tries, in milliseconds; the last one is kept to. */
const TRY_AGAIN_AFTER_MS = [250, 1_000, 4_000, 15_000, 30_000] as const;

/**
 * Lets go of something this process holds. When the database cannot be reached for that either it is tried again later, without the caller
 * waiting for it, until it is done or the process ends: what a live process holds nobody else may touch. Never throws.
 */
export async function persevere(log: Logger, what: string, letGo: () => Promise<unknown>): Promise<void> {
  try {
    await letGo();
  } catch (error) {
    log.warn({ err: error }, `${what} could not be let go of yet`);
    void tryAgain(log, what, letGo);
  }
}

async function tryAgain(log: Logger, what: string, letGo: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    await sleep(TRY_AGAIN_AFTER_MS[tries] ?? 30_000, undefined, { ref: false });
    try {
      await letGo();
      return;
    } catch (error) {
      log.debug({ err: error }, `${what} could still not be let go of`);
    }
  }
}
