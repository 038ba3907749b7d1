import { DatabaseError } from "pg";
import { rows, type Db, type Question } from "./connect.ts";
import { askInOne } from "./pipeline.ts";

/** What a statement goes together with. */
export interface Company {
  /**
   * Statements of one group go together. They wait for nobody, or take their locks in one order, so that two companies never wait for each other; and where one waits for a
   * row that somebody holds, those with it wait, too: so a group of writes is of one board.
   */
  readonly group: string;
  /** Where a statement goes among them: by the row that it locks. */
  readonly order?: number;
}

/** Short reads, of all boards. */
export const READS: Company = { group: "reads" };

interface Asked {
  readonly question: Question;
  readonly order: number;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/** So many go together at most: the first is answered when the last is done. */
const MOST = 32;
/** So many transactions of a group are under way at once; what is asked meanwhile gathers for the next. */
const AT_ONCE = 2;
/** One that takes longer, in milliseconds, as somebody holds a row that it needs, keeps nobody waiting who asks after it. */
const LONG = 50;

class Group {
  readonly #db: Db;
  readonly #onIdle: () => void;
  readonly #waiting: Asked[] = [];
  #underWay = 0;
  #isDue = false;

  constructor(db: Db, onIdle: () => void) {
    this.#db = db;
    this.#onIdle = onIdle;
  }

  ask(asked: Asked): void {
    this.#waiting.push(asked);
    this.#sendSoon();
  }

  /** When everything has been read that has come in by now. */
  #sendSoon(): void {
    if (this.#isDue || this.#underWay >= AT_ONCE) return;
    if (this.#waiting.length === 0) {
      if (this.#underWay === 0) this.#onIdle();
      return;
    }
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#sendNow();
      this.#sendSoon();
    });
  }

  #sendNow(): void {
    let isUnderWay = true;
    const end = (): void => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(long);
      this.#underWay--;
      this.#sendSoon();
    };
    this.#underWay++;
    const long = setTimeout(end, LONG);
    void this.#send(this.#waiting.splice(0, MOST).toSorted((a, b) => a.order - b.order)).then(end);
  }

  /** One by one where one of several has undone the others. */
  async #send(asked: readonly Asked[]): Promise<void> {
    const [first, ...others] = asked;
    if (!first) return;
    try {
      const { sql, bindings } = first.question;
      const isAlone = others.length === 0;
      const found = isAlone
        ? [await rows(this.#db, sql, bindings)]
        : await askInOne(
            this.#db,
            asked.map(({ question }) => question),
          );
      for (const [at, { resolve }] of asked.entries()) resolve(found[at] ?? []);
    } catch (error) {
      if (others.length > 0 && isUndone(error)) await Promise.all(asked.map((one) => this.#send([one])));
      else for (const { reject } of asked) reject(error);
    }
  }
}

/** Whether PostgreSQL says that it has undone the transaction, and goes on with the connection. */
const isUndone = (error: unknown): boolean => error instanceof DatabaseError && error.severity === "ERROR";

/** By pool and name: those that have something to do. */
const groups = new WeakMap<Db, Map<string, Group>>();

function groupOf(db: Db, name: string): Group {
  const ofPool = groups.get(db) ?? new Map<string, Group>();
  groups.set(db, ofPool);
  const group = ofPool.get(name) ?? new Group(db, () => ofPool.delete(name));
  ofPool.set(name, group);
  return group;
}

/**
 * Runs a statement that is a whole transaction by itself, as `rows` does, together with others of its group that are asked at the same moment: they share what going there and back costs, and the commit. Each
 * is begun after it was asked, and none is answered before all are committed. Without company it goes alone.
 */
export function rowsTogether<Row>(db: Db, company: Company | null, question: Question): Promise<Row[]> {
  if (!company || db.isTransaction) return rows<Row>(db, question.sql, question.bindings);
  const { group, order = 0 } = company;
  return new Promise((resolve, reject) => {
    groupOf(db, group).ask({ question, order, resolve: resolve as Asked["resolve"], reject });
  });
}
