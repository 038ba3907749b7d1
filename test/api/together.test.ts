import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { connect, isDatabaseAway, rows, type Db } from "../../src/store/connect.ts";
import { askInOne } from "../../src/store/pipeline.ts";
import { rowsTogether } from "../../src/store/together.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { untilSomebodyWaits, whileHeld } from "../support/held.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe("statements asked at one moment", () => {
  let database: TestDatabase;
  let db: Db;
  /** Of one connection, so that what goes wrong there is met by whoever comes next. */
  let narrow: Db;
  beforeAll(async () => {
    database = await createTestDatabase();
    const options = { connectionString: database.connectionString, onError: () => undefined };
    db = connect(options);
    narrow = connect({ ...options, max: 1 });
    await rows(db, "create table noted (number integer primary key, times integer not null default 0)");
  });
  afterAll(async () => {
    await narrow.destroy();
    await db.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    await rows(db, "truncate noted");
  });

  interface Noted {
    readonly number: number;
    readonly before: number;
    readonly xid: string;
  }
  const NOTE = `insert into noted (number) values (:number)
                returning number, (select count(*) from noted) as before, pg_current_xact_id()::text as xid`;
  const note = (number: number, pool = db, order?: number): Promise<Noted[]> =>
    rowsTogether<Noted>(
      pool,
      { group: "notes", ...(order !== undefined && { order }) },
      { sql: NOTE, bindings: { number } },
    );
  const count = (number: number, group = "counts"): Promise<unknown[]> =>
    rowsTogether(
      db,
      { group, order: number },
      {
        sql: "update noted set times = times + 1 where number = :number returning times",
        bindings: { number },
      },
    );
  const noted = async (): Promise<number[]> =>
    (await rows<{ number: number }>(db, "select number from noted order by number")).map(
      ({ number }) => number,
    );

  it("share two transactions that follow each other, each seeing what those before it did", async () => {
    const found = (await Promise.all(upTo(20).map((number) => note(number)))).flat();
    expect(found.map(({ number }) => number)).toEqual(upTo(20));
    expect(found.map(({ before }) => before)).toEqual(upTo(20).map((number) => number - 1));
    const [first, last] = [found[0]?.xid, found.at(-1)?.xid];
    expect(first).not.toBe(last);
    expect(found.map(({ xid }) => xid)).toEqual(upTo(20).map((number) => (number <= 10 ? first : last)));
    expect(await noted()).toEqual(upTo(20));
  });

  it("go in the order of what they lock", async () => {
    const found = (await Promise.all(upTo(9).map((number) => note(number, db, -number)))).flat();
    expect(found.map(({ before }) => before)).toEqual([4, 3, 2, 1, 0, 8, 7, 6, 5]);
  });

  it("are each done, but for the one that fails, and the connection serves the next", async () => {
    await note(3, narrow);
    const outcomes = await Promise.allSettled(upTo(5).map((number) => note(number, narrow)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(outcomes[2]).toMatchObject({ reason: { code: "23505" } });
    expect(await noted()).toEqual(upTo(5));
    const next = (await Promise.all([6, 7, 8, 9].map((number) => note(number, narrow)))).flat();
    const xids = next.map(({ xid }) => xid);
    expect(xids).toEqual([xids[0], xids[0], xids[2], xids[2]]);
    expect(await noted()).toEqual(upTo(9));
  });

  it("are told of anew where what they were parsed in was undone, and their tables have changed since", async () => {
    await rows(db, "create table widened as select 1 as a");
    const all = { sql: "select * from widened", bindings: {} };
    const failing = { sql: "select 1 / :nothing::integer", bindings: { nothing: 0 } };
    await expect(askInOne(narrow, [all, failing])).rejects.toMatchObject({ code: "22012" });
    await rows(db, "alter table widened add b integer default 5");
    const widened = [{ a: 1, b: 5 }];
    expect(await askInOne(narrow, [all, all])).toEqual([widened, widened]);
    expect(await askInOne(narrow, [all])).toEqual([widened]);
  });

  it("are not done in part when the connection is lost, and are not tried again by themselves", async () => {
    const cut = rowsTogether(
      narrow,
      { group: "notes" },
      {
        sql: "select pg_terminate_backend(pg_backend_pid()), cast(:number as integer)",
        bindings: { number: 3 },
      },
    );
    const outcomes = await Promise.allSettled([note(1, narrow), note(2, narrow), cut, note(4, narrow)]);
    expect(
      outcomes.map((outcome) => outcome.status === "rejected" && isDatabaseAway(outcome.reason)),
    ).toEqual([true, true, true, true]);
    expect(await noted()).toEqual([]);
    // That the connection has ended is heard of a moment later.
    await eventually(
      () => note(5, narrow).catch(() => []),
      ({ length }) => length === 1,
    );
  });

  it("are given lists as they are, with whatever is in them", async () => {
    const texts = ["", "NULL", null, 'a "b" \\c', "{d,e}", " ", "\n", "é 😀", "'"];
    const numbers = [1, null, -2];
    const flags = [true, null, false];
    const bytes = [Buffer.from([0, 255, 92, 34]), null, Buffer.alloc(0)];
    const lists = { texts, numbers, flags, bytes, none: [] };
    const found = await rows(
      db,
      `select cast(:texts as text[]) as texts, cast(:numbers as integer[]) as numbers, cast(:flags as boolean[]) as flags,
              cast(:bytes as bytea[]) as bytes, cast(:none as uuid[]) as none`,
      lists,
    );
    expect(found).toEqual([lists]);
  });

  it("go in two transactions at once where they may", async () => {
    const sql = "select pg_backend_pid() as pid, cast(:number as integer) as number";
    // Connections that are there already: what waits for a new one could be given the other's.
    await Promise.all([rows(db, "select pg_sleep(0.1)"), rows(db, "select pg_sleep(0.1)")]);
    const found = await Promise.all(
      upTo(4).map((number) =>
        rowsTogether<{ pid: number }>(db, { group: "two at once", atOnce: 2 }, { sql, bindings: { number } }),
      ),
    );
    expect(new Set(found.flat().map(({ pid }) => pid)).size).toBe(2);
  });

  describe("that can be one", () => {
    /** The numbers that went in each statement. */
    const went: unknown[][] = [];
    const tenfold = (number: number): Promise<unknown> =>
      rowsTogether(
        db,
        {
          group: "tenfold",
          order: number,
          apart: String(number),
          asOne: (each) => {
            const numbers = each.map((bindings) => bindings["number"]);
            went.push(numbers);
            const sql = `select 60 / (7 - u.number) * u.number as found
                           from unnest(cast(:numbers as integer[])) with ordinality u (number, at) order by u.at`;
            return { sql, bindings: { numbers } };
          },
        },
        {
          sql: "select 60 / (7 - cast(:number as integer)) * :number as found",
          bindings: { number },
        },
      );
    beforeEach(() => {
      went.length = 0;
    });

    it("are, but for the second that is about one row, and each is told what came of it", async () => {
      const asked = [6, 1, 5, 1, 6, 2, 5, 4];
      const found = await Promise.all(asked.map(tenfold));
      expect(found).toEqual(asked.map((number) => [{ found: Math.floor(60 / (7 - number)) * number }]));
      expect(went).toEqual([
        [1, 2, 5, 6],
        [1, 4, 5, 6],
      ]);
    });

    it("are each done, but for the one that fails", async () => {
      const outcomes = await Promise.allSettled([1, 7, 4, 5].map(tenfold));
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "fulfilled",
      ]);
      expect(outcomes[1]).toMatchObject({ reason: { code: "22012" } });
    });
  });

  it("that wait for a row keep nobody waiting who asks after them", async () => {
    await Promise.all(upTo(6).map((number) => note(number)));
    const waiting: Promise<unknown>[] = [];
    const hold = (trx: Db): Promise<unknown> => rows(trx, "select 1 from noted where number = 2 for update");
    await whileHeld(db, hold, async () => {
      for (let turn = 1; turn <= 3; turn++) {
        waiting.push(count(1), count(2));
        await untilSomebodyWaits(db, turn);
      }
      expect(await count(6)).toEqual([{ times: 1 }]);
    });
    expect(await Promise.all(waiting)).toHaveLength(6);
    expect(await count(2)).toEqual([{ times: 4 }]);
  });

  it("never wait for each other in a circle, however their callers asked", async () => {
    await Promise.all(upTo(8).map((number) => note(number)));
    const deadlocks = async (): Promise<unknown> => {
      await rows(db, "select pg_stat_force_next_flush()");
      return rows(db, "select deadlocks from pg_stat_database where datname = current_database()");
    };
    const before = await deadlocks();
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        ...upTo(8).map((number) => count(number, "one")),
        ...upTo(8).map((number) => count(9 - number, "other")),
      ]);
    }
    expect(await rows(db, "select distinct times from noted")).toEqual([{ times: 40 }]);
    expect(await deadlocks()).toEqual(before);
  });
});
