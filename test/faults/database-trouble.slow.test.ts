import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Db } from "../../src/store/db/connect.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually, type ApiAnswer } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardBefore, FORGE_WRITES } from "../support/stories/one-move-away.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { startWorld, type TestWorld } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const db = (): Db => world.service.deps.db;

// Jobs are worked again, which takes a while: their worker tries again with growing pauses.
afterEach(async () => {
  await addJob(db(), "drop-old-board-changes", {});
  await eventually(
    () => db()("graphile_worker._private_jobs").where("run_at", "<=", db().fn.now()),
    ({ length }) => length === 0,
    60_000,
  );
}, 120_000);

/** What PostgreSQL does to every write from now on; gives the way to end it. */
type Trouble = () => Promise<() => Promise<unknown>>;

/** All connections the service may have are somebody's who does not give them back. */
const noConnectionIsLeft: Trouble = async () => {
  const held = await Promise.all(Array.from({ length: 10 }, () => beginTransaction(db())));
  return () => Promise.all(held.map((trx) => trx.rollback()));
};

/** Somebody's lock makes statements wait longer than they may. */
const statementsTakeTooLong: Trouble = async () => {
  const holder = await beginTransaction(db());
  await holder.raw("set local idle_in_transaction_session_timeout = 0");
  await holder.raw("lock table timeline_items, cards in access exclusive mode");
  return () => holder.rollback();
};

/** Writes are refused in the words PostgreSQL has for it; the disk itself has room. */
const refusing =
  (condition: "disk_full" | "read_only_sql_transaction"): Trouble =>
  async () => {
    await db().raw(`
      create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '${condition}'; end $$`);
    for (const table of ["timeline_items", "cards", "operations"]) {
      await db().raw(
        `create trigger refuse before insert or update on ${table} for each statement execute function refuse()`,
      );
    }
    return () => db().raw("drop function refuse() cascade");
  };

const TROUBLES: readonly [string, Trouble][] = [
  ["has no connection left", noConnectionIsLeft],
  ["takes too long over a statement", statementsTakeTooLong],
  ["has no room on its disk", refusing("disk_full")],
  ["may only be read, its other half having taken over", refusing("read_only_sql_transaction")],
];

function expectComeAgain({ status, headers, text }: ApiAnswer): void {
  expect([status, text]).toEqual([503, expect.stringContaining("The database is busy or unavailable")]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
}

// Fault: E8 Connections, time or disk run out => 503; nothing is half written
describe.each(TROUBLES)("while the database %s", (_, trouble) => {
  it("a write is 503 with Retry-After, and its retry does it once", async () => {
    const board = await world.board();
    const key = randomUUID();
    const create = () => board.api.post("/v1/cards", { title: "Once" }, { key });
    const end = await trouble();
    const refused = await create();
    await end();
    expectComeAgain(refused);
    await eventually(create, ({ status }) => status === 201, 40_000);
    const backlog = await board.api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.body.map(({ title }) => title)).toEqual(["Once"]);
  }, 120_000);

  it.each(FORGE_WRITES)(
    "after $doing, the move is 503, nothing of it is half written, and its retry finishes it, once",
    async (write) => {
      const board = await world.board();
      const number = await cardBefore(board, write);
      await world.forge.waitUntilIdle();
      const { faults } = world.forge.control;
      // Long enough for the trouble to begin, and less than the service waits for an answer.
      faults.add({ match: write.match, fault: { kind: "delay", ms: 6_000, effect: "after" }, times: 1 });
      const key = randomUUID();
      const move = () => board.api.move(number, board.stages[write.to], 0, { key });
      const moving = move();
      await eventually(
        () => Promise.resolve(faults.list()),
        (listed) => listed[0]?.hits === 1,
      );
      const end = await trouble();
      const refused = await moving;
      await end();
      faults.clear();
      expectComeAgain(refused);
      const moved = await eventually(move, ({ status }) => status === 200, 40_000);
      expect(moved.body.task).toEqual({ number, statusId: board.stages[write.to], blocked: null });
      await expectConsistent({ forge: world.forge, db: db() }, board);
      const told = (await kindsOf(board, number)).filter(
        (kind) => kind === "branch_created" || kind.startsWith("pull_request_"),
      );
      expect(told.toSorted()).toEqual(write.timelineKinds.toSorted());
    },
    120_000,
  );
});
