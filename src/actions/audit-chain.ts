import type { Logger } from "pino";
import { endInterrupted } from "../store/audit/attempts.ts";
import { extendChain, hasUnchained } from "../store/audit/chain.ts";
import type { Db } from "../store/db/connect.ts";
import { createLoop, type BackgroundLoop } from "./background-loop.ts";

/** The pause between two queries for ended attempts, in milliseconds. Nobody waits for the chain. */
const PAUSE_MS = 1_000;
/** How often attempts of dead processes are ended, in milliseconds. */
const INTERRUPTED_EVERY_MS = 5_000;

/**
 * Adds ended attempts to the chain of the audit log, as the feed numbers events after commit. Every
 * process runs this loop; a lock lets one at a time extend the chain.
 */
export function createAuditChain(db: Db, log: Logger): BackgroundLoop {
  let endedAt = 0;
  return createLoop(async () => {
    try {
      if (Date.now() - endedAt >= INTERRUPTED_EVERY_MS) {
        await endInterrupted(db);
        endedAt = Date.now();
      }
      if (await hasUnchained(db)) await extendChain(db);
    } catch (error) {
      log.warn({ err: error }, "the chain of the audit log could not be extended");
    }
    return PAUSE_MS;
  });
}
