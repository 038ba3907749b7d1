import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runMigrations } from "graphile-worker";
import type { Knex } from "knex";
import { Problem } from "../../errors.ts";
import type { Db } from "./connect.ts";
import { openJobPool } from "./jobs.ts";
import { transaction } from "./transaction.ts";

/** Beside `src`; a built file is one folder deeper, in `dist/src`. */
const FOLDER =
  ["../../../migrations", "../../../../migrations"]
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? "migrations";

/** Plain `.sql` files, applied in the order of their names, so that they run alike under tsx, jest and dist. */
const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: listMigrations,
  getMigrationName: (name) => name,
  getMigration: (name) =>
    Promise.resolve({
      up: async (trx: Knex) => {
        const sql = await readFile(join(FOLDER, name), "utf8");
        // knex would take a question mark for a binding.
        await trx.raw(sql.replaceAll("?", "\\?"));
      },
      down: () => Promise.reject(new Error("Migrations only go forward: restore a backup instead.")),
    }),
};

async function listMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
}

/**
 * A migration that the database has and this version does not know is the next version's, which has come already: what a migration may do, this
 * version can live with, and it has to be able to start and to be called ready until it is replaced.
 */
const MIGRATIONS = { migrationSource, disableMigrationsListValidation: true };

/** Any number that all processes agree on: two that boot at once on an empty database take turns. */
const MIGRATION_LOCK = 7_411_206_001;

/**
 * Brings the schema up to date, the job queue's included, and gives the names of our migrations applied now.
 *
 * The lock lives in a transaction of its own, so it is freed by whatever way the process ends. A role that may not change the schema will do where
 * nothing is to be applied.
 */
export async function migrate(db: Db, connectionString: string): Promise<string[]> {
  try {
    return await applyMigrations(db, connectionString);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const says =
      "This database role may not apply migrations. Call `trunkline migrate` as the role that may, first.";
    throw Object.assign(new Error(says, { cause: error }), { code: error.code });
  }
}

const isForbidden = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && "code" in error && error.code === "42501";

async function applyMigrations(db: Db, connectionString: string): Promise<string[]> {
  return transaction(db, async (lock) => {
    await lock.raw("set local idle_in_transaction_session_timeout = 0");
    await lock.raw("set local statement_timeout = 0");
    await lock.raw("select pg_advisory_xact_lock(?)", [MIGRATION_LOCK]);
    // Ours is the lock that counts; knex's own stays taken when a process is killed while it migrates.
    await db.migrate.forceFreeMigrationsLock(MIGRATIONS);
    await refuseOtherHistory(db);
    await migrateJobs(connectionString);
    const [, applied] = (await db.migrate.latest(MIGRATIONS)) as [number, string[]];
    return applied;
  });
}

/**
 * Throws on a database with a migration that this version does not know, unless the migration comes
 * after all that it knows and so belongs to a newer version. Unreleased versions had other migrations.
 */
async function refuseOtherHistory(db: Db): Promise<void> {
  const known = await listMigrations();
  const [applied] = (await db.migrate.list(MIGRATIONS)) as [{ readonly name: string }[], unknown];
  const other = applied.find(({ name }) => !known.includes(name) && name < (known.at(-1) ?? ""));
  if (other === undefined) return;
  throw new Problem(
    "unavailable",
    `An unreleased version of Trunkline created this database: it has the migration ${other.name}, ` +
      "which this version replaces. Start with an empty one: delete the sandbox's data directory " +
      "(`.trunkline` unless TRUNKLINE_DATA_DIR is set), or set DATABASE_URL to a new database.",
  );
}

async function migrateJobs(connectionString: string): Promise<void> {
  const pool = openJobPool(connectionString, 1, () => undefined);
  try {
    await runMigrations({ pgPool: pool });
  } finally {
    await pool.end();
  }
}

/** The names of migrations this version has and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const [, pending] = (await db.migrate.list(MIGRATIONS)) as [unknown[], string[]];
  return pending;
}
