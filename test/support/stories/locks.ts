import type { Db, Trx } from "../../../src/store/db/connect.ts";
import { eventually } from "../api.ts";
import { transaction } from "../../../src/store/db/transaction.ts";

/** Keeps locked what `hold` locks while `act` runs. It is let go when `act` fails, too, or the world could not stop. */
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

/** Resolves once somebody waits for what another transaction of this database holds, or so many do. */
export async function untilWaitingForLock(db: Db, least = 1): Promise<void> {
  await eventually(
    () => db("pg_stat_activity").where("wait_event_type", "Lock").whereRaw("datname = current_database()"),
    ({ length }) => length >= least,
  );
}
