import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { migrate } from "../../src/store/db/migrate.ts";
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
