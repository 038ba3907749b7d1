import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { migrate, pendingMigrations } from "../../src/store/db/migrate.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/database.ts";

let database: TestDatabase;
let db: Db;
beforeEach(async () => {
  database = await createTestDatabase();
  db = connect({ connectionString: database.connectionString, onError: () => undefined });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

const migrateAgain = () => migrate(database.connectionString);

it("refuses a database of an unreleased version and says what to do", async () => {
  await db("knex_migrations").whereLike("name", "0001%").update({ name: "0001_tenants.sql" });
  await expect(migrateAgain()).rejects.toMatchObject({
    name: "Problem",
    message: expect.stringMatching(
      /has the migration 0001_tenants\.sql.*Start with an empty database: delete/,
    ),
  });
  expect(await db("knex_migrations").where({ name: "0001_tenancy.sql" })).toEqual([]);
});

it("accepts a database that a newer version has migrated", async () => {
  await db("knex_migrations").insert({ name: "9999_next.sql", batch: 2, migration_time: new Date() });
  expect(await migrateAgain()).toEqual([]);
});

it("can run while another process lists the migrations, as readiness checks do", async () => {
  // Between the statements that free knex's lock, another process could add a second row.
  await db.raw(`
    create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return new; end $$;
    create trigger wait before insert on knex_migrations_lock for each row execute function wait()`);
  const migrating = migrateAgain();
  const isOver = () => Promise.race([migrating.then(() => true), pendingMigrations(db).then(() => false)]);
  while (!(await isOver()));
  expect(await migrating).toEqual([]);
  expect(await db("knex_migrations_lock").pluck("is_locked")).toEqual([0]);
});

it("can run after a process was killed while it migrated, and with a second row of knex's lock", async () => {
  await db("knex_migrations_lock").update({ is_locked: 1 });
  await db("knex_migrations_lock").insert({ is_locked: 1 });
  expect(await migrateAgain()).toEqual([]);
});

it("gives way to a transaction that locks the same tables in another order", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-migrations-"));
  await cp("migrations", folder, { recursive: true });
  await writeFile(
    join(folder, "9999_next.sql"),
    `alter table cards add column later text;
     select pg_sleep(0.5);
     alter table timeline_items add column later text;`,
  );
  const call = await beginTransaction(db);
  await call.raw("select count(*) from timeline_items", []);
  const migrating = migrate(database.connectionString, folder);
  const changesCards = () =>
    db("pg_locks").whereRaw("relation = 'cards'::regclass and mode = 'AccessExclusiveLock' and granted");
  await eventually(changesCards, ({ length }) => length > 0);
  // Now each waits for the other. PostgreSQL would end this one, which has waited longer.
  try {
    await call.raw("select count(*) from cards", []);
  } finally {
    await call.rollback();
  }
  expect(await migrating).toEqual(["9999_next.sql"]);
  await rm(folder, { recursive: true });
});
