import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { eventually } from "../support/api.ts";
import { expectConsistent } from "../support/invariants.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import { runCardToDone } from "../support/stories/run-card.ts";
import { startSurroundings, type Surroundings } from "../faults/support/surroundings.ts";

const CARDS = 3;
const LONG = 300_000;

/** Everything that a migration may do: new columns in all tables, a new table and an index. */
const NEXT = `
  do $$ declare each text; begin
    for each in select tablename from pg_tables where schemaname = 'public' and tablename not like 'knex%' loop
      execute format('alter table %I add column added_later text not null default ''later'', add column empty_later integer', each);
    end loop;
  end $$;
  create index on cards (added_later);
  create table later_things (card_id uuid not null references cards on delete cascade, note text);
`;

let shipped: Shipped;
let next: Shipped;
let surroundings: Surroundings;
let older: ShippedProcess;
let newer: ShippedProcess | undefined;
beforeAll(async () => {
  [shipped, next, surroundings] = await Promise.all([shipService(), shipService(), startSurroundings()]);
  await writeFile(join(next.dir, "migrations/9999_next.sql"), NEXT);
  older = await shipped.start(surroundings);
  surroundings.forge.setWebhookUrl(`${older.baseUrl}${WEBHOOK_PATH}`);
}, LONG);
afterAll(async () => {
  await older?.kill();
  await newer?.kill();
  await surroundings?.stop();
  await shipped?.remove();
  await next?.remove();
}, LONG);

const isReady = async ({ baseUrl }: ShippedProcess): Promise<number> =>
  (await fetch(`${baseUrl}/readyz`)).status;

// Fault: E11 Two versions run during a migration => both work
it(
  "the previous version works during and after the migration to the next, and can be restarted",
  async () => {
    const { db } = surroundings;
    const board = await surroundings.board(older.baseUrl);
    let numbers: number[] = [];
    const runCards = async (): Promise<void> => {
      const created = Array.from({ length: CARDS }, (_, at) => runCardToDone(board, numbers.length + at));
      numbers = [...numbers, ...(await Promise.all(created))];
    };
    const running = runCards();
    newer = await next.start(surroundings);
    await running;
    expect(await db("knex_migrations").orderBy("id", "desc").limit(1).pluck("name")).toEqual([
      "9999_next.sql",
    ]);
    expect([await isReady(older), await isReady(newer)]).toEqual([200, 200]);
    await runCards();

    const { port } = new URL(older.baseUrl);
    await older.kill();
    older = await shipped.start({ ...surroundings, port: Number(port) });
    expect(await isReady(older)).toBe(200);
    await runCards();

    await eventually(
      () => db("deliveries").whereNot({ state: "done" }).select("guid", "event", "state", "error"),
      ({ length }) => length === 0,
    );
    for (const number of numbers) {
      expect(
        await db("cards").where({ number, workspace_id: board.workspaceId }).pluck("added_later"),
      ).toEqual(["later"]);
    }
    await expectConsistent(surroundings, board);
    const errors = [older, newer].flatMap((each) => each.logged().filter(({ level }) => Number(level) >= 50));
    expect(errors).toEqual([]);
  },
  LONG,
);
