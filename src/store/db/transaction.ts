import type { Knex } from "knex";
import type { Client, QueryResult } from "pg";
import type { Db, Trx } from "./connect.ts";

/**
 * Opens a transaction. It waits neither for `begin` nor, with `commit`, for the statements before it: they travel together, so a
 * transaction adds no round trips to those of its statements. (knex's own transactions wait for each.)
 */
export async function beginTransaction(db: Db): Promise<Trx> {
  const connection: Client = await db.client.acquireConnection();
  let isOpen = true;
  const inUse = (): Client => {
    if (isOpen) return connection;
    throw new Error("the transaction has ended");
  };
  const end = async (sql: "commit" | "rollback"): Promise<QueryResult> => {
    const ending = inUse().query(sql);
    isOpen = false;
    return ending.finally(() => void db.client.releaseConnection(connection));
  };
  const properties = {
    raw: { value: (sql: string, bindings: Knex.RawBinding) => db.raw(sql, bindings).connection(inUse()) },
    fn: { value: db.fn },
    connectionInUse: { get: inUse },
    commit: {
      value: async () => {
        if ((await end("commit")).command !== "COMMIT") throw new Error("the transaction was rolled back");
      },
    },
    rollback: {
      value: async () => {
        if (isOpen) await end("rollback").catch(() => undefined);
      },
    },
  };
  // Where `begin` fails, so does every statement after it.
  connection.query("begin").catch(() => undefined);
  const builder = (table: string) => db(table).connection(inUse());
  return Object.defineProperties(builder, properties) as unknown as Trx;
}

/** Runs `work` in a transaction: commits when it resolves, rolls back when it throws. */
export async function transaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  const trx = await beginTransaction(db);
  try {
    const result = await work(trx);
    await trx.commit();
    return result;
  } catch (error) {
    await trx.rollback();
    throw error;
  }
}

/**
 * Waits for statements of one transaction that were sent together, and returns their results. Throws the error of the first
 * that failed: PostgreSQL refuses those after it only because of that.
 */
export async function allInOrder<T extends readonly unknown[] | []>(
  sent: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  const results = await Promise.allSettled(sent);
  const values = results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
  return values as { -readonly [Index in keyof T]: Awaited<T[Index]> };
}
