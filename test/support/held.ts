import type { Db, Trx } from "../../src/store/connect.ts";

/** Keeps locked what `hold` locks while `act` runs. It is let go when `act` fails, too, or the world could not stop. */
export async function whileHeld(
  db: Db,
  hold: (trx: Trx) => PromiseLike<unknown>,
  act: () => Promise<void>,
): Promise<void> {
  await db.transaction(async (trx) => {
    await hold(trx);
    await act();
  });
}
