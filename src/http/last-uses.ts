import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Db } from "../store/db/connect.ts";
import { recordUse } from "../store/tenancy/last-uses.ts";

/** A use is recorded at most once in this time, in milliseconds. */
const RECORD_EVERY_MS = 60_000;

/** Records when users call this process. */
export class LastUses {
  readonly #recorded = new LRUCache<string, true>({ max: 10_000, ttl: RECORD_EVERY_MS });

  /** Never throws, because the call has already taken effect. */
  async record(db: Db, userId: string, log: Logger): Promise<void> {
    if (this.#recorded.has(userId)) return;
    this.#recorded.set(userId, true);
    await recordUse(db, userId).catch((error: unknown) =>
      log.warn({ err: error }, "the last call of a user could not be recorded"),
    );
  }
}
