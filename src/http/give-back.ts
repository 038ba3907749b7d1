import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Db } from "../store/connect.ts";
import { releaseKey, type HeldKey } from "../store/idempotency.ts";

/** Waits between tries, in milliseconds: five minutes in all, which is longer than a database's restart or failover. */
const TRY_AGAIN_AFTER_MS = [250, 1_000, 4_000, 15_000, ...Array<number>(9).fill(30_000)];

/**
 * Gives a held key back after a failed attempt. When the database cannot be reached for that either it is tried again later, without the caller
 * waiting for it: the retries of a request whose key stays held would be told to wait for as long as this process lives.
 */
export async function giveBackKey(db: Db, log: Logger, held: HeldKey): Promise<void> {
  try {
    await releaseKey(db, held);
  } catch (error) {
    log.warn({ err: error }, "an idempotency key could not be given back yet");
    void giveBackLater(db, log, held);
  }
}

async function giveBackLater(db: Db, log: Logger, held: HeldKey): Promise<void> {
  for (const wait of TRY_AGAIN_AFTER_MS) {
    await sleep(wait, undefined, { ref: false });
    try {
      await releaseKey(db, held);
      return;
    } catch (error) {
      log.debug({ err: error }, "an idempotency key could still not be given back");
    }
  }
  log.error("an idempotency key could not be given back: it is free once this process has ended");
}
