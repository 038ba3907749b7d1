import type { Trx } from "../../src/store/db/connect.ts";
import { eventually } from "./api.ts";
import type { TestWorld } from "./world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

/** Runs `start` in a transaction, then `meanwhile`, and commits when `meanwhile` waits for a lock. */
export async function duringTransaction<T>(
  world: TestWorld,
  start: (trx: Trx) => Promise<unknown>,
  meanwhile: () => Promise<T>,
): Promise<T> {
  const trx = await beginTransaction(world.service.deps.db);
  let running: Promise<T>;
  try {
    await start(trx);
    running = meanwhile();
    await eventually(
      () =>
        trx("pg_stat_activity").where({ wait_event_type: "Lock", datname: trx.raw("current_database()") }),
      ({ length }) => length > 0,
    );
  } finally {
    await trx.commit();
  }
  return running;
}
