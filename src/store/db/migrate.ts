import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runMigrations } from "graphile-worker";
import type { Knex } from "knex";
import { Problem } from "../../errors.ts";
import { connect, type Db } from "./connect.ts";
import { openJobPool } from "./jobs.ts";
import { clientClass } from "./primary.ts";
import { LOCK_IDS } from "./lock-ids.ts";
import { codeOf, transaction } from "./transaction.ts";

/** Beside `src`; a built file is one folder deeper, in `dist/src`. */
const FOLDER =
  ["../../../migrations", "../../../../migrations"]
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? "migrations";

/**
 * How long a migration waits for a lock, in milliseconds. During an upgrade the previous version uses
 * the same tables, perhaps in another order. The migration gives way before PostgreSQL's
 * `deadlock_timeout` (1 s) ends a call of that version, and is tried again.
 */
const LOCK_TIMEOUT_MS = 200;
const ATTEMPTS = 60;
const PAUSE_BETWEEN_ATTEMPTS_MS = 500;

/** Plain `.sql` files, applied in the order of their names. */
const migrationsIn = (folder: string): Knex.MigratorConfig => ({
  migrationSource: {
    getMigrations: () => listMigrations(folder),
    getMigrationName: (name: string) => name,
    getMigration: (name: string) =>
      Promise.resolve({
        up: async (trx: Knex) => {
          const sql = await readFile(join(folder, name), "utf8");
          await trx.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
          // knex treats a question mark as a binding.
          await trx.raw(sql.replaceAll("?", "\\?"));
        },
        down: () => Promise.reject(new Error("Migrations cannot be undone. Restore a backup instead.")),
      }),
  },
  // During an upgrade the database has migrations of the next version, which this version does not
  // know. They keep it working, so it must be able to start and to report that it is ready.
  disableMigrationsListValidation: true,
});

async function listMigrations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
}

/**
 * Applies the pending migrations of a folder and those of the job queue. Returns the names of the
 * former. If none is pending, the database role needs no permission to change the schema.
 */
export async function migrate(connectionString: string, folder = FOLDER): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const db = connect({ connectionString, max: 2, hasTimeouts: false, onError: () => undefined });
    try {
      return await applyMigrations(db, connectionString, folder);
    } catch (error) {
      if (!isLocked(error) || attempt === ATTEMPTS) throw explained(error);
    } finally {
      await db.destroy();
    }
    await sleep(PAUSE_BETWEEN_ATTEMPTS_MS);
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK = "40P01";
const FORBIDDEN = "42501";

const isLocked = (error: unknown): boolean =>
  [LOCK_NOT_AVAILABLE, DEADLOCK].some((code) => code === codeOf(error));

/** The error with what to do, if that is known. */
function explained(error: unknown): unknown {
  const because = (message: string): Error =>
    Object.assign(new Error(message, { cause: error }), { code: codeOf(error) });
  if (codeOf(error) === FORBIDDEN)
    return because(
      "This database role may not apply migrations. Run `trunkline migrate` with a role that may.",
    );
  if (isLocked(error))
    return because(
      "Other transactions lock the tables that a migration changes. End them (`pg_stat_activity` lists them) and start again.",
    );
  return error;
}

async function applyMigrations(db: Db, connectionString: string, folder: string): Promise<string[]> {
  return transaction(db, async (lock) => {
    await lock.raw("select pg_advisory_xact_lock(?)", [LOCK_IDS.migrations]);
    await refuseOtherHistory(db, folder);
    await freeLockOfKnex(db);
    await migrateJobs(connectionString);
    const [, applied] = (await db.migrate.latest(migrationsIn(folder))) as [number, string[]];
    return applied;
  });
}

/**
 * knex's own lock would outlive a killed process; the advisory lock ends with its transaction. Its
 * table is never empty here: knex adds a row to an empty one whenever it lists migrations, and
 * cannot lock two. (Its `forceFreeMigrationsLock` empties the table first.)
 */
async function freeLockOfKnex(db: Db): Promise<void> {
  await db.raw(
    "delete from knex_migrations_lock where index > (select min(index) from knex_migrations_lock)",
  );
  await db.raw("update knex_migrations_lock set is_locked = 0");
}

/**
 * Throws if an unreleased version created the database. An unknown migration after the last known
 * one belongs to a newer version and is accepted.
 */
async function refuseOtherHistory(db: Db, folder: string): Promise<void> {
  const known = await listMigrations(folder);
  const [applied] = (await db.migrate.list(migrationsIn(folder))) as [{ readonly name: string }[], unknown];
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
  const [, pending] = (await db.migrate.list(migrationsIn(FOLDER))) as [unknown[], string[]];
  return pending;
}
