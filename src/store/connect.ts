import knex, { type Knex } from "knex";
import { type Client, type CustomTypesConfig, types as parsers } from "pg";
import { haveSpareTime } from "../spare-time.ts";
import { ask } from "./ask.ts";

/** A connection or an open transaction: every function of the store takes one first. */
export type Db = Knex;
export type Trx = Knex.Transaction;

const { INT8, DATE } = parsers.builtins;

/** bigint as a number (every id here is below 2^53), date as `YYYY-MM-DD`; everything else as pg does it. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === INT8) return Number;
    if (oid === DATE) return String;
    return parsers.getTypeParser(oid, format) as (value: string) => unknown;
  },
};

export interface ConnectOptions {
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

/** A text of ours as PostgreSQL takes it: a `$n` for each binding, in the order of `names`. */
interface Statement {
  /** PostgreSQL then parses and plans it once a connection. */
  readonly name: string;
  readonly text: string;
  readonly names: readonly string[];
}

/** By their texts. These are written in this folder and hold no values, so there are as many as there are places that ask. */
const statements = new Map<string, Statement>();

function statementOf(sql: string, bindings: Readonly<Record<string, unknown>>): Statement {
  const known = statements.get(sql);
  if (known) return known;
  const names: string[] = [];
  // A cast has two colons; a time's format has one before what is no binding.
  const text = sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (found, name: string) =>
    name in bindings ? `$${names.push(name)}` : found,
  );
  const statement = { name: `s${statements.size}`, text, names };
  statements.set(sql, statement);
  return statement;
}

/** What lends a connection: knex's pool, or a transaction, which has one. */
interface Lender {
  acquireConnection(): Promise<Client>;
  releaseConnection(connection: Client): Promise<void>;
}

/** A text of SQL without values in it, and the values of its named (`:name`) bindings. */
export interface Question {
  readonly sql: string;
  readonly bindings: Readonly<Record<string, unknown>>;
}

/** A question as pg takes it: its text, the name it is parsed under, and its values in their order. */
export function prepared({
  sql,
  bindings,
}: Question): Omit<Statement, "names"> & { readonly values: unknown[] } {
  const { name, text, names } = statementOf(sql, bindings);
  const values = names.map((binding) => {
    const value = bindings[binding];
    if (value === undefined) throw new Error(`the statement has no value for :${binding}`);
    return value;
  });
  return { name, text, values };
}

/** Lends `work` a connection of the pool, or that of the transaction. */
export async function withConnection<T>(db: Db, work: (connection: Client) => Promise<T>): Promise<T> {
  // Its connection may be somebody else's by now.
  if (db.isTransaction && (db as Trx).isCompleted()) throw new Error("the transaction has ended");
  const lender = db.client as Lender;
  const connection = await lender.acquireConnection();
  try {
    const done = work(connection);
    haveSpareTime();
    return await done;
  } finally {
    void lender.releaseConnection(connection);
  }
}

/**
 * Runs `sql`, a text without values in it, with named (`:name`) bindings and gives the rows. It goes past knex's builders, whose part in reading a card was a seventh of the
 * CPU time (525 ms for 1,000 reads, 450 without). An error holds neither the text nor the values; those of knex do.
 */
export async function rows<Row>(db: Db, sql: string, bindings: Record<string, unknown> = {}): Promise<Row[]> {
  const question = prepared({ sql, bindings });
  return (await withConnection(db, (connection) => ask(connection, question, types))) as Row[];
}

/** The first row, or null. */
export async function firstRow<Row>(
  db: Db,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Row | null> {
  return (await rows<Row>(db, sql, bindings))[0] ?? null;
}

/** A time in SQL as JSON has it from JavaScript. */
export const isoTime = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
