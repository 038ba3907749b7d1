import { hash } from "node:crypto";
import { callbackify } from "node:util";

import knex, { type Knex } from "knex";
import { LRUCache } from "lru-cache";
import {
  type Client,
  type CustomTypesConfig,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
  types as parsers,
} from "pg";
import { clientClass } from "./primary.ts";

/** The pool or an open transaction. Every function of the store takes one as its first argument. */
export type Db = Knex;

/** An open transaction: `rows` and knex's builders run in it. */
export interface Trx extends Knex {
  /** The connection reserved for this transaction. Throws after the transaction has ended. */
  readonly connectionInUse: Client;
  /** Commits. Throws if PostgreSQL rolls back instead, as it does after a failed statement. */
  readonly commit: () => Promise<void>;
  /** Rolls back unless the transaction has ended. Never throws: a lost connection rolls back. */
  readonly rollback: () => Promise<void>;
}

const { INT8, DATE } = parsers.builtins;

/** Reads bigint as a number (all values are below 2^53) and date as a `YYYY-MM-DD` string. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === INT8) return Number;
    if (oid === DATE) return String;
    return parsers.getTypeParser(oid, format) as (value: string) => unknown;
  },
};

/** Connections of a pool. */
export const POOL_SIZE = 10;

/** In milliseconds. */
export interface DatabaseTimeouts {
  /** Of a statement, at the server. */
  readonly statementMs: number;
  /** Of the wait for a connection of the pool. */
  readonly acquireMs: number;
}

const DEFAULT_TIMEOUTS: DatabaseTimeouts = { statementMs: 10_000, acquireMs: 10_000 };

interface ConnectOptions {
  /** May have several hosts: connections lead to the primary. */
  readonly connectionString: string;
  readonly max?: number;
  /** False for statements that may take any time. */
  readonly hasTimeouts?: boolean;
  readonly timeouts?: DatabaseTimeouts | undefined;
  /** Called when an idle connection breaks, for example because PostgreSQL restarts. */
  readonly onError: (error: Error) => void;
  /** Called with the code of each error that PostgreSQL responds to a statement. */
  readonly onErrorCode?: (code: string) => void;
}

/**
 * A connection plans each statement once and keeps the plan. A sequential scan that is cheapest
 * while a table is empty becomes slow when the table grows, so plans use indexes, which cost little
 * more on short tables. JIT compilation pays off only in long reports. Pages are mostly in memory.
 */
const PLANNING = "set enable_seqscan = off; set jit = off; set random_page_cost = 1.1";
const settingsOf = ({ statementMs }: DatabaseTimeouts): string =>
  `set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = '20s'`;

/**
 * Longer than the server's timeout, in milliseconds: a server that has lost its power or its network
 * does not close its connections.
 */
export const RESPONSE_TIMEOUT_MS = 15_000;

/** Idle connections to such a server are noticed, too. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** Creates a pool, which connects when the first statement runs. */
export function connect({
  connectionString,
  max = POOL_SIZE,
  hasTimeouts = true,
  timeouts = DEFAULT_TIMEOUTS,
  onError,
  onErrorCode = () => undefined,
}: ConnectOptions): Knex {
  const report = (message: unknown): void => onError(new Error(String(message)));
  /** By statements, because PgBouncer refuses settings in the startup packet. */
  const configure = async (connection: Client): Promise<Client> => {
    try {
      await connection.query(hasTimeouts ? `${PLANNING}; ${settingsOf(timeouts)}` : PLANNING);
      return connection;
    } catch (error) {
      connection.end().catch(() => undefined);
      throw error;
    }
  };
  const db = knex({
    client: "pg",
    connection: {
      connectionString,
      types,
      // Statements that do not wait for each other share one round trip.
      pipeline: true,
      application_name: "trunkline",
      query_timeout: hasTimeouts ? RESPONSE_TIMEOUT_MS : 0,
      ...KEEP_ALIVE,
    } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max,
      afterCreate: (connection: Client, done: (error: Error | null, connection: Client) => void): void => {
        connection.on("error", onError);
        connection.connection.on("errorMessage", ({ code }: { code: string }) => onErrorCode(code));
        callbackify(configure)(connection, done);
      },
    },
    acquireConnectionTimeout: timeouts.acquireMs,
    // Keeps values out of error messages.
    compileSqlOnError: false,
    // By default knex logs to the console.
    log: { warn: report, error: report, deprecate: report, debug: () => undefined },
  });
  db.userParams = { statements: new LRUCache<string, Statement>({ max: STATEMENTS }) };
  // knex opens connections with the class in its driver.
  db.client.driver = { ...db.client.driver, Client: clientClass(connectionString) };
  return db;
}

/** The class of a pool's clients, for another pool to the same database. */
export const clientClassOf = (db: Knex): typeof Client =>
  (db.client as { driver: { Client: typeof Client } }).driver.Client;

/**
 * Codes of lost or refused connections, a read-only server, exhausted resources, shutdown,
 * cancelled statements, deadlocks and serialization failures.
 */
const UNAVAILABLE = /^(08|25006|40|53|57P0|57014|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/** Whether the database was temporarily unavailable, so that the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // Some errors have no code: knex found no free connection, or pg lost the connection in use.
  const isLost = /Connection (terminated|ended)|is not queryable$|Query read timeout$/.test(error.message);
  return isLost || UNAVAILABLE.test(code) || error.name === "KnexTimeoutError";
}

async function withConnection<T>(db: Db, work: (connection: Client) => Promise<T>): Promise<T> {
  const connection: Client = await db.client.acquireConnection();
  try {
    return await work(connection);
  } finally {
    void db.client.releaseConnection(connection);
  }
}

/** A statement as PostgreSQL prepares it. */
interface Statement {
  readonly name: string;
  /** With `$1`, `$2` and so on instead of the bindings, which are in `bound`. */
  readonly text: string;
  readonly bound: readonly string[];
}

/** The statements of a pool by their text with named bindings. */
type Statements = LRUCache<string, Statement>;

/** More than there are; texts with optional conditions have many variants. */
const STATEMENTS = 2_000;

/** Numbers the bindings of a statement, which are the same in each of its calls. */
function prepare(statements: Statements, sql: string, bindings: object): Statement {
  const bound: string[] = [];
  // Casts (`::`) and colons in time formats are not bindings.
  const text = sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (found, name: string) =>
    name in bindings ? `$${bound.push(name)}` : found,
  );
  const statement = { name: hash("sha1", sql, "base64url"), text, bound };
  statements.set(sql, statement);
  return statement;
}

/**
 * Sends a statement. Those that a connection gets in one turn of the event loop share one system call,
 * which takes as much CPU as preparing a statement.
 */
export function send<Row extends QueryResultRow>(
  connection: Client,
  statement: string | QueryConfig,
): Promise<QueryResult<Row>> {
  const { stream } = connection.connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return connection.query<Row>(statement);
}

/**
 * Runs a statement with named bindings (`:name`) and returns its rows. Each connection prepares a
 * statement once, under a hash of its text, so `sql` must not contain values. Statements of one
 * transaction are sent in the order of the calls, without waiting for earlier results.
 */
export async function rows<Row>(
  db: Db | Trx,
  sql: string,
  bindings: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  const { statements } = db.userParams as { readonly statements: Statements };
  const { name, text, bound } = statements.get(sql) ?? prepare(statements, sql, bindings);
  const values = bound.map((binding) => {
    if (bindings[binding] === undefined) throw new Error(`The binding :${binding} has no value.`);
    return bindings[binding];
  });
  const statement = { name, text, values };
  const run = (connection: Client) => send<Row & QueryResultRow>(connection, statement);
  const result = await ("connectionInUse" in db ? run(db.connectionInUse) : withConnection(db, run));
  return result.rows;
}

export async function firstRow<Row>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Row | null> {
  return (await rows<Row>(db, sql, bindings))[0] ?? null;
}

/** The values of the only column. */
export async function column<Value>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Value[]> {
  const found = await rows<Record<string, Value>>(db, sql, bindings);
  return found.flatMap((row) => Object.values(row));
}

/** The only column of the first row, or null. */
export const firstValue = async <Value>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown>,
): Promise<Value | null> => (await column<Value>(db, sql, bindings))[0] ?? null;

export const exists = async (db: Db, sql: string, bindings: Record<string, unknown>): Promise<boolean> =>
  (await rows(db, sql, bindings)).length > 0;

/** The column of a field: `card_id` for `cardId`. */
export const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of a row. The caller has checked its fields. */
export const columnsOf = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [columnOf(field), value]));

/** Updates the fields of a row that are not undefined. The caller has checked them. */
export async function updatePresent(db: Db, table: string, id: string, changes: object): Promise<void> {
  const present = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (Object.keys(present).length > 0) await db(table).where({ id }).update(columnsOf(present));
}

/** SQL that formats a time as JavaScript's `toISOString` does. */
export const isoTime = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
