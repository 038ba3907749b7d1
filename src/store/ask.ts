import type { Duplex } from "node:stream";
import type { Client, Connection, CustomTypesConfig, FieldDef, Submittable } from "pg";

/** What pg's own queries do with a connection, which its types leave out or have as it was. */
interface Wire {
  readonly stream: Duplex;
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(bound: { readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(what: { readonly type: "P" }): void;
  execute(): void;
  sync(): void;
}

interface Column {
  readonly name: string;
  readonly parse: (value: string) => unknown;
}

/** What the statements of a connection answer with, by name. PostgreSQL refuses one that is parsed rather than let it answer with other columns. */
const known = new WeakMap<Duplex, Map<string, readonly Column[]>>();

/** A statement that is parsed once a connection, and its values. */
export interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** pg's types name the numbers of its own types only. */
type ParserOf = (type: number, format: "text") => (value: string) => unknown;
type End = (error: Error | null, rows: unknown[]) => void;

/** What pg's client tells a query of; it parses a statement once, by name and text. */
class Ask implements Submittable {
  readonly name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  readonly #parserOf: ParserOf;
  readonly #end: End;
  readonly #rows: unknown[] = [];
  #columns: readonly Column[] = [];
  #isDescribed = false;
  #unread: Error | undefined;

  constructor({ name, text, values }: Prepared, parserOf: ParserOf, end: End) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#parserOf = parserOf;
    this.#end = end;
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    const { name, text } = this;
    const isParsed = wire.parsedStatements[name] !== undefined;
    const columns = isParsed ? known.get(wire.stream)?.get(name) : undefined;
    wire.stream.cork();
    try {
      if (!isParsed && wire.submittedNamedStatements[name] === undefined) {
        wire.parse({ name, text });
        wire.submittedNamedStatements[name] = text;
      }
      wire.bind({ statement: name, values: this.#values });
      if (columns) this.#columns = columns;
      else wire.describe({ type: "P" });
      this.#isDescribed = !columns;
      wire.execute();
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  }

  handleRowDescription(message: unknown): void {
    const { fields } = message as { readonly fields: readonly FieldDef[] };
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#parserOf(dataTypeID, "text"),
    }));
  }

  handleDataRow(message: unknown): void {
    const { fields } = message as { readonly fields: readonly (string | null)[] };
    try {
      const row: Record<string, unknown> = {};
      for (const [at, { name, parse }] of this.#columns.entries()) {
        const value = fields[at] ?? null;
        row[name] = value === null ? null : parse(value);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#unread ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(_message: unknown, { stream }: Connection): void {
    if (!this.#isDescribed) return;
    const ofConnection = known.get(stream) ?? new Map<string, readonly Column[]>();
    known.set(stream, ofConnection.set(this.name, this.#columns));
  }

  handleError(error: Error): void {
    this.#end(error, []);
  }

  handleReadyForQuery(): void {
    this.#end(this.#unread ?? null, this.#rows);
  }
}

type Sent = string | Buffer | null;

/** What goes over the wire as it is, as its text, or as PostgreSQL writes a list of such; pg has more to do for a date. */
function asSent(value: unknown): Sent | undefined {
  if (value === null || typeof value === "string" || Buffer.isBuffer(value)) return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value) || value.some(Array.isArray)) return undefined;
  const sent = value.map(asSent);
  return areSent(sent) ? `{${sent.map(asElement).join(",")}}` : undefined;
}

const areSent = (values: readonly (Sent | undefined)[]): values is Sent[] => !values.includes(undefined);

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function asElement(value: Sent): string {
  if (value === null) return "NULL";
  return Buffer.isBuffer(value)
    ? String.raw`"\\x${value.toString("hex")}"`
    : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * A statement as pg's client takes it; null where it takes pg to send a value. pg's own queries copy what they are given, and have PostgreSQL describe each answer anew: a tenth of node's part
 * of reading a card.
 */
export function asking({ name, text, values }: Prepared, types: CustomTypesConfig, end: End): Ask | null {
  const sent = values.map(asSent);
  return areSent(sent) ? new Ask({ name, text, values: sent }, types.getTypeParser as ParserOf, end) : null;
}

/** Asks a connection, and gives the rows. */
export async function ask(
  connection: Client,
  question: Prepared,
  types: CustomTypesConfig,
): Promise<unknown[]> {
  try {
    return await new Promise((resolve, reject) => {
      const query = asking(question, types, (error, rows) => (error ? reject(error) : resolve(rows)));
      if (query) connection.query(query);
      else resolve(connection.query({ ...question, values: [...question.values] }).then(({ rows }) => rows));
    });
  } catch (error) {
    // It would lead to the socket, and not to who asked.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}
