import type { Duplex } from "node:stream";
import { type Connection, Query, type QueryResult, type Submittable } from "pg";
import { asking } from "./ask.ts";
import { prepared, types, withConnection, type Db, type Question } from "./connect.ts";

/** How pg's queries hear what comes of them, which its types leave out. */
interface Handled extends Submittable {
  readonly text: string;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
}

/** The names and texts of the statements that pipelines have parsed, by connection. What is asked alone is parsed under other names. */
const parsed = new WeakMap<Connection, Record<string, string>>();

type End = (error: Error | null, results: readonly unknown[][]) => void;

/** Queries, sent one behind the other with one `Sync` for all of them. */
class Pipeline implements Submittable {
  readonly #queries: readonly Handled[];
  readonly #results: unknown[][] = [];
  readonly #sent: Record<string, string> = {};
  readonly #end: End;
  #unbound: Error | undefined;
  #done = 0;

  constructor(questions: readonly Question[], end: End) {
    this.#end = end;
    this.#queries = questions.map((question) => {
      const { name, text, values } = prepared(question);
      const asked = { name: `pipelined_${name}`, text, values };
      const take = (error: Error | null | undefined, rows: unknown[]): void => {
        if (error) this.#unbound ??= error;
        else this.#results.push(rows);
      };
      const ofPg = (error: Error | null | undefined, result: unknown): void =>
        take(error, error ? [] : (result as QueryResult).rows);
      // Its types know no callback beside a configuration, which is how pg's client calls it.
      return (
        asking(asked, types, take) ?? (new Query({ ...asked, types }, undefined, ofPg) as unknown as Handled)
      );
    });
  }

  /** As pg's queries have it, for whoever watches what is asked. */
  get text(): string {
    return this.#queries.map(({ text }) => text).join("; ");
  }

  submit(connection: Connection): void {
    const known = parsed.get(connection) ?? {};
    parsed.set(connection, known);
    const stream: Duplex = connection.stream;
    const withoutSync = Object.assign(Object.create(connection) as Connection, {
      parsedStatements: known,
      submittedNamedStatements: this.#sent,
      sync: () => undefined,
      parse: (message: Parameters<Connection["parse"]>[0]) => {
        // Left behind, perhaps, by a pipeline that failed.
        connection.close({ type: "S", name: message.name }, true);
        connection.parse(message, true);
      },
    });
    stream.cork();
    for (const query of this.#queries) query.submit(withoutSync);
    // Without its end nothing of it is done.
    if (this.#unbound) stream.destroy(this.#unbound);
    else connection.sync();
    stream.uncork();
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#done]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#done]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#queries[this.#done++]?.handleCommandComplete(message, connection);
  }

  handleError(error: Error): void {
    this.#end(this.#unbound ?? error, []);
  }

  /** All of it is committed. */
  handleReadyForQuery(connection: Connection): void {
    Object.assign(parsed.get(connection) ?? {}, this.#sent);
    for (const query of this.#queries) query.handleReadyForQuery(connection);
    this.#end(null, this.#results);
  }
}

/**
 * Asks several things in one transaction, and over the network once: PostgreSQL gives each statement a snapshot of its own, in which it sees what those before it have done, and answers when it
 * has committed. One that fails undoes all. Gives the rows of each. (pg's own pipelines end each statement with a `Sync`, which makes a commit of each.)
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export const askInOne = (db: Db, questions: readonly Question[]): Promise<readonly unknown[][]> =>
  withConnection(
    db,
    (client) =>
      new Promise((resolve, reject) => {
        const end: End = (error, results) => (error ? reject(error) : resolve(results));
        client.query(new Pipeline(questions, end));
      }),
  );
