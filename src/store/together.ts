import { DatabaseError } from "pg";
import { awake } from "./awake.ts";
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
  /** So many of its transactions are under way at once, or one. Writes of one board lock rows in common: two at once were slower by a fifth to a quarter. */
  readonly atOnce?: number;
  /** Whether one that goes alone is answered so soon that its answer is waited for awake. */
  readonly isSoonAnswered?: boolean;
  /** Of those with the same, one goes after the other: about one row, or under one key. */
  readonly apart?: string;
  /** Makes one statement of several, no two of which are to be apart; it gives a row for each, in their order. Without it they go one behind the other. */
  readonly asOne?: (bindings: readonly Question["bindings"][]) => Question;
}

/** Short reads, of all boards. Of cards over 16 connections 8,000 a second, 7,200 where one went at a time. */
export const READS: Company = { group: "reads", atOnce: 2, isSoonAnswered: true };

interface Asked {
  readonly question: Question;
  readonly order: number;
  readonly apart: string | undefined;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/** So many go together at most: the first is answered when the last is done. */
const MOST = 32;
/** Where one takes longer, in milliseconds, as when the disk is slow, another may go beside it. */
const SLOW = 5;
/** One that takes longer than this, as somebody holds a row that it needs, keeps nobody waiting who asks after it. */
const LONG = 50;

class Group {
  readonly #db: Db;
  readonly #company: Company;
  readonly #onIdle: () => void;
  #waiting: Asked[] = [];
  #underWay = 0;
  #slow = 0;
  /** How many statements went in the transaction before. */
  #before = 0;
  #isDue = false;

  constructor(db: Db, company: Company, onIdle: () => void) {
    this.#db = db;
    this.#company = company;
    this.#onIdle = onIdle;
  }

  ask(asked: Asked): void {
    this.#waiting.push(asked);
    this.#sendSoon();
  }

  get #mayGo(): boolean {
    const { atOnce = 1 } = this.#company;
    return this.#waiting.length > 0 && this.#underWay < atOnce + Math.min(this.#slow, 1);
  }

  /** When everything has been read that has come in by now. */
  #sendSoon(): void {
    if (this.#isDue || !this.#mayGo) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#mayGo) this.#sendNow();
    if (this.#waiting.length === 0 && this.#underWay === 0) this.#onIdle();
  }

  /**
   * Half of all: were everything to go in one, it would come back together, and so would the next calls of those who asked, and callers, process and database would work in turns. So the other half is
   * on its way to its callers, and comes again from them, meanwhile.
   */
  #sendNow(): void {
    const taken = this.#take(Math.min(MOST, Math.ceil((this.#waiting.length + this.#before) / 2)));
    this.#before = taken.length;
    this.#underWay++;
    let isSlow = false;
    let isUnderWay = true;
    const end = (): void => {
      if (!isUnderWay) return;
      isUnderWay = false;
      clearTimeout(timer);
      if (isSlow) this.#slow--;
      this.#underWay--;
      this.#send();
    };
    let timer = setTimeout(() => {
      isSlow = true;
      this.#slow++;
      timer = setTimeout(end, LONG - SLOW);
      this.#sendSoon();
    }, SLOW);
    void this.#done(
      taken.toSorted((a, b) => a.order - b.order),
      end,
    );
  }

  /** Those that go next, the oldest first; who is to go apart from one of them stays for the next. */
  #take(most: number): readonly Asked[] {
    const taken: Asked[] = [];
    const left: Asked[] = [];
    const met = new Set<string>();
    for (const asked of this.#waiting) {
      const { apart } = asked;
      if (taken.length < most && (apart === undefined || !met.has(apart))) taken.push(asked);
      else left.push(asked);
      if (apart !== undefined) met.add(apart);
    }
    this.#waiting = left;
    return taken;
  }

  /** Asks, one by one where one of several has undone the others. The next go before these are told what came of it, which takes the process a while. */
  async #done(asked: readonly Asked[], end: () => void): Promise<void> {
    try {
      const found = await this.#ask(asked.map(({ question }) => question));
      end();
      for (const [at, { resolve }] of asked.entries()) resolve(found[at] ?? []);
    } catch (error) {
      if (asked.length > 1 && isUndone(error)) {
        await Promise.all(asked.map((one) => this.#done([one], () => undefined)));
        end();
      } else {
        end();
        for (const { reject } of asked) reject(error);
      }
    }
  }

  async #ask(questions: readonly Question[]): Promise<readonly unknown[][]> {
    const [first, ...others] = questions;
    if (!first) return [];
    const { asOne, isSoonAnswered } = this.#company;
    if (others.length === 0) {
      const answer = rows(this.#db, first.sql, first.bindings);
      return [await (isSoonAnswered ? awake(answer) : answer)];
    }
    if (!asOne) return askInOne(this.#db, questions);
    const { sql, bindings } = asOne(questions.map((question) => question.bindings));
    const found = await rows(this.#db, sql, bindings);
    if (found.length !== questions.length)
      throw new Error(`${found.length} rows for ${questions.length} statements`);
    return found.map((row) => [row]);
  }
}

/** Whether PostgreSQL says that it has undone the transaction, and goes on with the connection. */
const isUndone = (error: unknown): boolean => error instanceof DatabaseError && error.severity === "ERROR";

/** By pool and name: those that have something to do. */
const groups = new WeakMap<Db, Map<string, Group>>();

function groupOf(db: Db, company: Company): Group {
  const { group: name } = company;
  const ofPool = groups.get(db) ?? new Map<string, Group>();
  groups.set(db, ofPool);
  const known = ofPool.get(name);
  if (known) return known;
  const group = new Group(db, company, () => {
    if (ofPool.get(name) === group) ofPool.delete(name);
  });
  ofPool.set(name, group);
  return group;
}

/**
 * Runs a statement that is a whole transaction by itself, as `rows` does, together with others of its group that are asked at the same moment: they share what going there and back costs, and the commit. Each
 * is begun after it was asked, and none is answered before all are committed. Without company it goes alone.
 */
export function rowsTogether<Row>(db: Db, company: Company | null, question: Question): Promise<Row[]> {
  if (!company || db.isTransaction) return rows<Row>(db, question.sql, question.bindings);
  const { order = 0, apart } = company;
  return new Promise((resolve, reject) => {
    groupOf(db, company).ask({ question, order, apart, resolve: resolve as Asked["resolve"], reject });
  });
}
