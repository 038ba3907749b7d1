import { rows, type Db } from "./connect.ts";

/**
 * Locks a name such as `pages:<board id>` until the transaction ends. Other transactions that lock
 * it wait. PostgreSQL gets a hash of the name, so two names with the same hash share a lock.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  await rows(trx, "select pg_advisory_xact_lock(hashtextextended(:name, 0))", { name });
}
