import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runMigrations } from "graphile-worker";
import type { Knex } from "knex";
import { Problem } from "../../errors.ts";
import { connect, type Db } from "./connect.ts";
import { openJobPool } from "./jobs.ts";
import { clientClass } from "./primary.ts";
import { LOCK_IDS } from "./lock-ids.ts";
import { transaction } from "./transaction.ts";

/** Beside `src`; a built file is one folder deeper, in `dist/src`. */
const FOLDER =
  ["../../../migrations", "../../../../migrations"]
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? "migrations";

/** Plain `.sql` files, applied in the order of their names. */
const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: listMigrations,
  getMigrationName: (name) => name,
  getMigration: (name) =>
    Promise.resolve({
      up: async (trx: Knex) => {
        const sql = await readFile(join(FOLDER, name), "utf8");
        // knex treats a question mark as a binding.
        await trx.raw(sql.replaceAll("?", "\\?"));
      },
      down: () => Promise.reject(new Error("Migrations cannot be undone. Restore a backup instead.")),
    }),
};

async function listMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
}

/**
 * During an upgrade the database has migrations of the next version, which this version does not
 * know. They keep it working, so it must be able to start and to report that it is ready.
 */
const MIGRATIONS = { migrationSource, disableMigrationsListValidation: true };

/**
 * Applies the pending migrations and those of the job queue. Returns the names of the former. If
 * none is pending, the database role needs no permission to change the schema.
 */
export async function migrate(connectionString: string, attempts = 5): Promise<string[]> {
  const db = connect({ connectionString, max: 2, hasTimeouts: false, onError: () => undefined });
  try {
    return await applyMigrations(db, connectionString);
  } catch (error) {
    // During an upgrade the previous version reads the same tables, perhaps in another order.
    if (isDeadlock(error) && attempts > 1) return await migrate(connectionString, attempts - 1);
    if (!isForbidden(error)) throw error;
    const message =
      "This database role may not apply migrations. Run `trunkline migrate` with a role that may.";
    throw Object.assign(new Error(message, { cause: error }), { code: error.code });
  } finally {
    await db.destroy();
  }
}

const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "40P01";

const isForbidden = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && "code" in error && error.code === "42501";

async function applyMigrations(db: Db, connectionString: string): Promise<string[]> {
  return transaction(db, async (lock) => {
    await lock.raw("select pg_advisory_xact_lock(?)", [LOCK_IDS.migrations]);
    // knex's own lock would outlive a killed process. The lock above ends with its transaction.
    await db.migrate.forceFreeMigrationsLock(MIGRATIONS);
    await refuseOtherHistory(db);
    await migrateJobs(connectionString);
    const [, applied] = (await db.migrate.latest(MIGRATIONS)) as [number, string[]];
    return applied;
  });
}

/**
 * Throws if an unreleased version created the database. An unknown migration after the last known
 * one belongs to a newer version and is accepted.
 */
async function refuseOtherHistory(db: Db): Promise<void> {
  const known = await listMigrations();
  const [applied] = (await db.migrate.list(MIGRATIONS)) as [{ readonly name: string }[], unknown];
  const other = applied.find(({ name }) => !known.includes(name) && name < (known.at(-1) ?? ""));
  if (other === undefined) return;
  throw new Problem(
    "unavailable",
    `An unreleased version of Trunkline created this database: it has the migration ${other.name}, ` +
      "which this version replaces. Start with an empty database: delete the sandbox's data directory " +
      "(`.trunkline` unless TRUNKLINE_DATA_DIR is set), or set DATABASE_URL to a new database.",
  );
}

async function migrateJobs(connectionString: string): Promise<void> {
  const pool = openJobPool({
    connectionString,
    Client: clientClass(connectionString),
    max: 1,
    hasTimeouts: false,
    onError: () => undefined,
  });
  try {
    await runMigrations({ pgPool: pool });
  } finally {
    await pool.end();
  }
}

/** The names of the migrations that the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const [, pending] = (await db.migrate.list(MIGRATIONS)) as [unknown[], string[]];
  return pending;
}
