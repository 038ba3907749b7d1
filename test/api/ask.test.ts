import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { DatabaseError } from "pg";
import { connect, rows, types, withConnection, type Db } from "../../src/store/connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  // Of one connection, so that each statement is parsed once.
  db = connect({ connectionString: database.connectionString, max: 1, onError: () => undefined });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

describe("a statement", () => {
  it("answers the second time, when it is not described any more, as the first, and as pg's own query", async () => {
    const texts = [
      `select :text::text as text, :number::integer as number, :big::bigint as big, :part::float8 as part, :yes::boolean as yes,
              :none::text as none, :bytes::bytea as bytes, :day::date as day, '2026-01-02T03:04:05.678Z'::timestamptz as at,
              '{"a":[1,null]}'::jsonb as json, array['x', 'ÿ"'] as list, '' as empty, 1 as twice, 2 as twice`,
      "select number from generate_series(1, :number::integer) as of (number)",
      "select 1 where :number::integer is null",
      "select from generate_series(1, :number::integer)",
    ];
    const bindings = {
      text: "ÿ’\"'\\n",
      number: -7,
      big: 2 ** 52,
      part: 0.1,
      yes: false,
      none: null,
      bytes: Buffer.from([0, 255, 92]),
      day: "2026-02-28",
    };
    for (const sql of texts) {
      const asked = { ...bindings, number: sql.startsWith("select :") ? -7 : 3 };
      const first = await rows(db, sql, asked);
      const names: unknown[] = [];
      const text = sql.replaceAll(
        /(?<!:):([a-z]+)/g,
        (_, name: keyof typeof asked) => `$${names.push(asked[name])}`,
      );
      const byPg = await withConnection(db, (client) => client.query({ text, values: names, types }));
      expect(first).toEqual(byPg.rows);
      expect(first.map((row) => Object.keys(row as object))).toEqual(
        byPg.rows.map((row) => Object.keys(row as object)),
      );
      expect(await rows(db, sql, asked)).toEqual(first);
    }
  });

  it("may be given what pg makes a text of", async () => {
    const given = { at: new Date("2026-01-02T03:04:05.678Z"), list: ["a", null, 'b"'], json: { a: 1 } };
    const sql = "select :at::timestamptz as at, :list::text[] as list, :json::jsonb as json";
    expect(await rows(db, sql, given)).toEqual([given]);
    expect(await rows(db, sql, { at: null, list: null, json: null })).toEqual([
      { at: null, list: null, json: null },
    ]);
  });

  it("may be given lists of texts, whatever is in them", async () => {
    const texts = ["", "a,b", '"', "\\", "\\'{}", "null", "NULL", " ÿ\n"];
    for (const list of [texts, [], ["x"]]) {
      expect(await rows(db, "select :list::text[] as list", { list })).toEqual([{ list }]);
    }
  });

  it("that changes rows and gives none gives none, however often", async () => {
    await rows(db, "create table kept (number integer primary key)");
    const insert = (number: number) => rows(db, "insert into kept values (:number)", { number });
    expect([await insert(1), await insert(2)]).toEqual([[], []]);
    expect(await rows(db, "select number from kept order by number")).toEqual([{ number: 1 }, { number: 2 }]);
  });

  it("that fails says so to who asked, and leaves the connection to the next", async () => {
    await rows(db, "create table once (number integer primary key)");
    const insert = async (number: number) => await rows(db, "insert into once values (:number)", { number });
    await insert(1);
    const failed = await insert(1).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DatabaseError);
    expect(failed).toMatchObject({ code: "23505", stack: expect.stringContaining("ask.test") });
    await expect(rows(db, "select from nowhere")).rejects.toMatchObject({ code: "42P01" });
    expect(await insert(2)).toEqual([]);
    expect(await rows(db, "select count(*) as count from once")).toEqual([{ count: 2 }]);
  });

  it("whose answer PostgreSQL would have to change is refused rather than misread", async () => {
    await rows(db, "create table widened (a text)");
    await rows(db, "insert into widened values ('x')");
    const all = () => rows(db, "select * from widened");
    expect([await all(), await all()]).toEqual([[{ a: "x" }], [{ a: "x" }]]);
    await rows(db, "alter table widened add b integer default 5");
    await expect(all()).rejects.toMatchObject({ code: "0A000" });
  });

  it("of a connection that has ended is refused", async () => {
    const ending = connect({ connectionString: database.connectionString, max: 1, onError: () => undefined });
    try {
      const pid = (await rows<{ pid: number }>(ending, "select pg_backend_pid() as pid"))[0]?.pid ?? 0;
      const [refused] = await Promise.allSettled([
        rows(ending, "select pg_sleep(:seconds::float8)", { seconds: 60 }),
        rows(db, "select pg_terminate_backend(:pid::integer)", { pid }),
      ]);
      expect(refused).toMatchObject({ status: "rejected", reason: { code: "57P01" } });
    } finally {
      await ending.destroy();
    }
  });
});
