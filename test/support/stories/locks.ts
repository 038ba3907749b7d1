import type { Db, Trx } from "../../../src/store/db/connect.ts";
import { eventually } from "../api.ts";
import { LOCK_IDS } from "../../../src/store/db/lock-ids.ts";
import { transaction } from "../../../src/store/db/transaction.ts";

/** Holds the locks of `hold` while `act` runs, and releases them if `act` fails, too. */
export async function whileLocked(
  db: Db,
  hold: (trx: Trx) => PromiseLike<unknown>,
  act: () => Promise<void>,
): Promise<void> {
  await transaction(db, async (trx) => {
    await hold(trx);
    await act();
  });
}

/**
 * Resolves when this number of transactions waits for a lock. The locks of background work, such as the numbering of events, do not
 * count: two processes wait for each other there at any time.
 */
export async function untilWaitingForLock(db: Db, least = 1): Promise<void> {
  await eventually(
    () =>
      db("pg_locks")
        .join("pg_stat_activity", "pg_stat_activity.pid", "pg_locks.pid")
        .where({ granted: false })
        .whereRaw("datname = current_database()")
        .whereRaw("not (locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) = any(?))", [
          Object.values(LOCK_IDS),
        ])
        .distinct<{ pid: number }[]>("pg_locks.pid"),
    ({ length }) => length >= least,
  );
}
