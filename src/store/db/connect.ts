import { hash } from "node:crypto";

import knex, { type Knex } from "knex";
import { type Client, type CustomTypesConfig, type QueryResultRow, types as parsers } from "pg";

/** The pool, or an open transaction: every function of the store takes one first. */
export type Db = Knex;

/** An open transaction: `rows` and knex's builders run in it. */
export interface Trx extends Knex {
  /** The connection that the transaction has to itself. Throws once the transaction has ended. */
  readonly connectionInUse: Client;
  /** Commits. Throws where PostgreSQL rolls back instead, as it does after a failed statement. */
  readonly commit: () => Promise<void>;
  /** Rolls back, unless the transaction has ended. Never throws: a lost connection rolls back as well. */
  readonly rollback: () => Promise<void>;
}

const { INT8, DATE } = parsers.builtins;

/** bigint as a number (every id here is below 2^53), date as `YYYY-MM-DD`; everything else as pg does it. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === INT8) return Number;
    if (oid === DATE) return String;
    return parsers.getTypeParser(oid, format) as (value: string) => unknown;
  },
};

interface ConnectOptions {
  readonly connectionString: string;
  /** The most connections this process holds at once. */
  readonly max?: number;
  /** Told about connections that break while idle, which PostgreSQL's restart does to all of them. */
  readonly onError: (error: Error) => void;
}

/**
 * How PostgreSQL plans what is asked here. A statement is planned once a connection, perhaps while its tables are empty, and kept: reading such a table end to end would seem cheapest,
 * and be asked for again when it has grown. So tables are read by their indexes, which cost next to nothing more where they are short. What is compiled pays for reports of hours, not here. Pages are
 * taken to be in memory.
 */
const PLANNING = "-c enable_seqscan=off -c jit=off -c random_page_cost=1.1";

/** Opens a pool. Nothing is asked of the database yet. */
export function connect({ connectionString, max = 10, onError }: ConnectOptions): Knex {
  const tell = (message: unknown): void => onError(new Error(String(message)));
  return knex({
    client: "pg",
    connection: {
      connectionString,
      types,
      // Statements that do not wait for each other travel together: one round trip for all of them.
      pipeline: true,
      application_name: "trunkline",
      options: PLANNING,
      statement_timeout: 10_000,
      idle_in_transaction_session_timeout: 20_000,
    } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max,
      afterCreate: (connection: Client, done: (error: Error | null, connection: Client) => void): void => {
        connection.on("error", onError);
        done(null, connection);
      },
    },
    acquireConnectionTimeout: 10_000,
    // Errors carry the statement's text, but not its values.
    compileSqlOnError: false,
    // knex writes to the console otherwise.
    log: { warn: tell, error: tell, deprecate: tell, debug: () => undefined },
  });
}

/** Lost or refused connections, a server that may only be read just now, no resources, shutdown, a cancelled statement, a deadlock or a serialization failure. */
const AWAY = /^(08|25006|40|53|57P0|57014|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/**
 * Whether an error says that the database could not be used just now, and nothing about what was asked of it: the same call can
 * be made again.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // Some errors come without a code: knex found no free connection, or pg lost the one it had, and says so again of all that is asked on it.
  const isLost = /Connection (terminated|ended) unexpectedly|is not queryable$/.test(error.message);
  return isLost || AWAY.test(code) || error.name === "KnexTimeoutError";
}

/** Borrows a connection of the pool for one piece of work. */
async function withConnection<T>(db: Db, work: (connection: Client) => Promise<T>): Promise<T> {
  const connection: Client = await db.client.acquireConnection();
  try {
    return await work(connection);
  } finally {
    void db.client.releaseConnection(connection);
  }
}

/**
 * Runs `sql`, a text without values in it, with named (`:name`) bindings, and returns the rows. PostgreSQL parses and plans the
 * statement once per connection, under a name made from its text. Statements of one transaction are sent in the order of the
 * calls, without waiting for each other's results.
 */
export async function rows<Row>(
  db: Db | Trx,
  sql: string,
  bindings: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  const values: unknown[] = [];
  // A cast has two colons, and a time's format has colons before what is no binding.
  const text = sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (found, name: string) => {
    if (!(name in bindings)) return found;
    if (bindings[name] === undefined) throw new Error(`the statement has no value for :${name}`);
    return `$${values.push(bindings[name])}`;
  });
  const statement = { name: hash("sha1", sql, "base64url"), text, values };
  const run = (connection: Client) => connection.query<Row & QueryResultRow>(statement);
  const result = await ("connectionInUse" in db ? run(db.connectionInUse) : withConnection(db, run));
  return result.rows;
}

/** The first row, or null. */
export async function firstRow<Row>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Row | null> {
  return (await rows<Row>(db, sql, bindings))[0] ?? null;
}

/** The only column of all rows. */
export async function column<Value>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Value[]> {
  const found = await rows<Record<string, Value>>(db, sql, bindings);
  return found.flatMap((row) => Object.values(row));
}

/** The only column of the first row; null without a row. */
export const firstValue = async <Value>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown>,
): Promise<Value | null> => (await column<Value>(db, sql, bindings))[0] ?? null;

/** Whether the statement returns a row. */
export const exists = async (db: Db, sql: string, bindings: Record<string, unknown>): Promise<boolean> =>
  (await rows(db, sql, bindings)).length > 0;

/** A time in SQL in the ISO 8601 format of JavaScript. */
export const isoTime = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
