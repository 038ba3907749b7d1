import type { Db, Trx } from "../../../src/store/db/connect.ts";
import { eventually } from "../api.ts";
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

/** Resolves when this number of transactions waits for a lock. */
export async function untilWaitingForLock(db: Db, least = 1): Promise<void> {
  await eventually(
    () => db("pg_stat_activity").where("wait_event_type", "Lock").whereRaw("datname = current_database()"),
    ({ length }) => length >= least,
  );
}
