import type { Knex } from "knex";
import type { Client, QueryResult } from "pg";
import { Problem } from "../../errors.ts";
import { send, type Db, type Trx } from "./connect.ts";

/** A database whose transactions belong to an attempt of the audit log. */
type AttemptDb = Db & { readonly attemptId?: string };

/** The same database; the events that its transactions write name the attempt (`current_attempt()` in SQL). */
export const forAttempt = (db: Db, attemptId: string | null): Db =>
  attemptId === null
    ? db
    : new Proxy(db, {
        get: (target, name) => (name === "attemptId" ? attemptId : (Reflect.get(target, name) as unknown)),
      });

/** The setting ends with the transaction. Sent with `begin`, it takes no round trip. */
const beginOf = (db: AttemptDb, connection: Client): string =>
  db.attemptId === undefined
    ? "begin"
    : `begin; set local trunkline.attempt = ${connection.escapeLiteral(db.attemptId)}`;

/**
 * Opens a transaction. `begin` and `commit` are sent with the statements next to them, so a
 * transaction adds no round trips. (A transaction of knex waits for the result of each.)
 */
export async function beginTransaction(db: Db): Promise<Trx> {
  const connection: Client = await db.client.acquireConnection();
  let isOpen = true;
  const inUse = (): Client => {
    if (isOpen) return connection;
    throw new Error("The transaction has ended.");
  };
  const end = async (sql: "commit" | "rollback"): Promise<QueryResult> => {
    const ending = send(inUse(), sql);
    isOpen = false;
    return ending.finally(() => void db.client.releaseConnection(connection));
  };
  const properties = {
    raw: { value: (sql: string, bindings: Knex.RawBinding) => db.raw(sql, bindings).connection(inUse()) },
    fn: { value: db.fn },
    userParams: { value: db.userParams },
    connectionInUse: { get: inUse },
    commit: {
      value: async () => {
        if ((await end("commit")).command !== "COMMIT") throw new Error("The transaction was rolled back.");
      },
    },
    rollback: {
      value: async () => {
        if (isOpen) await end("rollback").catch(() => undefined);
      },
    },
  };
  // If `begin` fails, every later statement fails, too.
  send(connection, beginOf(db, connection)).catch(() => undefined);
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
 * Waits for statements of one transaction that were sent together, and returns their results.
 * Throws the error of the first failed statement: the later ones fail only because of it.
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

const UNIQUE = "23505";
const FOREIGN_KEY = "23503";

/** PostgreSQL's code of an error (SQLSTATE), or undefined. */
export const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
const constraintOf = (error: unknown): unknown =>
  error instanceof Error && "constraint" in error ? error.constraint : undefined;

/** False if `work` violates a unique constraint; its transaction can then only be rolled back. */
export async function unlessTaken(work: PromiseLike<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (codeOf(error) === UNIQUE) return false;
    throw error;
  }
}

/** The foreign keys of cards and moves to their project and stage. */
const STAGE_KEYS = new Set<unknown>([
  "cards_project_id_fkey",
  "cards_stage_id_fkey",
  "operations_stage_id_fkey",
]);

/** Throws `busy` if the stage or project that `work` refers to was removed after it was read. */
export async function busyIfStageRemoved<T>(work: PromiseLike<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) !== FOREIGN_KEY || !STAGE_KEYS.has(constraintOf(error))) throw error;
    const message = "The flow of this project changed during the request. Repeat the request.";
    throw new Problem("busy", message, { retryAfter: 1, cause: error });
  }
}
