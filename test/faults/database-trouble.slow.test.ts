import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { Db, Trx } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually, type ApiResponse } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { useWorld } from "../support/use-world.ts";
import { METRICS_TOKEN } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

// Much longer than a statement takes: only those that the trouble stops reach them.
const world = useWorld({ databaseTimeouts: { statementMs: 2_000, acquireMs: 2_000 } });

const db = (): Db => world.service.deps.db;

// Jobs are retried with growing delays.
afterEach(async () => {
  await addJob(db(), "drop-old-board-changes", {});
  await eventually(
    () => db()("graphile_worker._private_jobs").where("run_at", "<=", db().fn.now()),
    ({ length }) => length === 0,
  );
});

/** Starts the trouble for every write and returns a function that ends it. */
type Trouble = () => Promise<() => Promise<unknown>>;

/** Holds all connections that the service may have. */
const noConnectionIsLeft: Trouble = async () => {
  const held = await Promise.all(Array.from({ length: 10 }, () => beginTransaction(db())));
  return () => Promise.all(held.map((trx) => trx.rollback()));
};

/** Locks make statements wait longer than their timeout. Each has a transaction of its own, so that none is part of a deadlock. */
const statementsTakeTooLong: Trouble = async () => {
  const holders = [await holdTable("timeline_items"), await holdTable("cards")];
  return () => Promise.all(holders.map((holder) => holder.rollback()));
};

/** Waits for as long as a transaction uses the table, then lets no other one use it. */
async function holdTable(table: string): Promise<Trx> {
  const holder = await beginTransaction(db());
  await holder.raw("set local statement_timeout = 0");
  await holder.raw("set local idle_in_transaction_session_timeout = 0");
  await holder.raw(`lock table ${table} in access exclusive mode`);
  return holder;
}

/** Makes writes fail with PostgreSQL's message; the disk is not full. */
const refusing =
  (condition: "disk_full" | "read_only_sql_transaction"): Trouble =>
  async () => {
    await db().raw(`
      create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '${condition}'; end $$`);
    const tables = ["timeline_items", "cards", "operations"];
    for (const table of tables) {
      await db().raw(
        `create trigger refuse before insert or update on ${table} for each statement execute function refuse()`,
      );
    }
    return async () => {
      // One after the other: dropping the function with all triggers needs several locks at once, which may be a deadlock.
      for (const table of tables) await db().raw(`drop trigger refuse on ${table}`);
      await db().raw("drop function refuse()");
    };
  };

const TROUBLES: readonly [string, Trouble][] = [
  ["has no connection left", noConnectionIsLeft],
  ["needs too much time for a statement", statementsTakeTooLong],
  ["has no room on its disk", refusing("disk_full")],
  ["is read-only after a failover", refusing("read_only_sql_transaction")],
];

function expectRetryable({ status, headers, text }: ApiResponse): void {
  expect([status, text]).toEqual([503, expect.stringContaining("The database is busy or unavailable")]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
}

// First, because a full disk is remembered for 15 seconds.
describe("while the disk of PostgreSQL is full", () => {
  const errors = (): readonly string[] =>
    world
      .logged()
      .split("\n")
      .filter(
        (line) => line.startsWith('{"level":50') && line.includes("PostgreSQL has no room on its disk"),
      );
  const readiness = async () => {
    const response = await fetch(`${world.service.baseUrl}/readyz`);
    const { checks } = (await response.json()) as { checks: readonly { name: string; ok: boolean }[] };
    return { code: response.status, bad: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
  };
  const gauge = async (): Promise<string | undefined> => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const text = await (await fetch(`${world.service.baseUrl}/metrics`, { headers })).text();
    return /^trunkline_database_disk_full (\d)$/m.exec(text)?.[1];
  };
  const untilReady = () => eventually(readiness, ({ code }) => code === 200);

  it("/readyz is 503, the metrics show it, and one line is logged as an error", async () => {
    await untilReady();
    const before = errors().length;
    const board = await world.board();
    const end = await refusing("disk_full")();
    for (let nth = 0; nth < 3; nth++)
      expectRetryable(await board.api.post("/v1/cards", { title: "No room" }));
    await end();
    expect(await readiness()).toEqual({ code: 503, bad: ["disk"] });
    expect(await gauge()).toBe("1");
    expect(errors().length).toBe(before + 1);
    await untilReady();
    expect(await gauge()).toBe("0");
    expect((await board.api.post("/v1/cards", { title: "Room again" })).status).toBe(201);
  });

  it("a process notices it without any call: a statement of its heartbeat needs space", async () => {
    await untilReady();
    const written = async (): Promise<number> => {
      const { rows } = await db().raw<{ rows: { bytes: string }[] }>(
        "select temp_bytes as bytes from pg_stat_database where datname = current_database()",
      );
      return Number(rows[0]?.bytes);
    };
    const before = await written();
    const after = await eventually(written, (bytes) => bytes >= before + 100_000);
    expect(after).toBeGreaterThan(before);
  });
});

// Fault: E8 Connections, time or disk run out => 503; nothing is half written
describe.each(TROUBLES)("while the database %s", (_, trouble) => {
  it("a write is 503 with Retry-After, and its retry succeeds once", async () => {
    const board = await world.board();
    const key = randomUUID();
    const create = () => board.api.post("/v1/cards", { title: "Once" }, { key });
    const end = await trouble();
    const refused = await create();
    await end();
    expectRetryable(refused);
    await eventually(create, ({ status }) => status === 201);
    const backlog = await board.api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.body.map(({ title }) => title)).toEqual(["Once"]);
  });

  it.each(FORGE_WRITES)(
    "a move after $doing is 503 without partial writes, and its retry finishes it once",
    async (write) => {
      const board = await world.board();
      const number = await cardReadyFor(board, write);
      await world.forge.waitUntilIdle();
      const response = holdCalls(world, write.match);
      const key = randomUUID();
      const move = () => board.api.move(number, board.stages[write.to], 0, { key });
      const moving = move();
      await response.arrived();
      const end = await trouble();
      response.resume();
      const refused = await moving;
      await end();
      expectRetryable(refused);
      const moved = await eventually(move, ({ status }) => status === 200);
      expect(moved.body.task).toEqual({ number, statusId: board.stages[write.to], blocked: null });
      await expectConsistent({ forge: world.forge, db: db() }, board);
      const kinds = (await kindsOf(board, number)).filter(
        (kind) => kind === "branch_created" || kind.startsWith("pull_request_"),
      );
      expect(kinds.toSorted()).toEqual(write.timelineKinds.toSorted());
    },
  );
});
