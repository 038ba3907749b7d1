import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockDataDir } from "../sandbox/data-dir-lock.ts";
import { startPostgres } from "../sandbox/postgres/start-postgres.ts";
import { connect } from "../src/store/db/connect.ts";
import { migrate } from "../src/store/db/migrate.ts";
import { describeSchema } from "./describe-schema.ts";

/** Migrates an empty embedded PostgreSQL and writes its schema to `schema.sql`. */
const dir = await mkdtemp(join(tmpdir(), "trunkline-schema-"));
const postgres = await startPostgres({ dataDir: await lockDataDir(dir, process.pid), throwAway: true });
const { connectionString } = postgres;
await migrate(connectionString);
const db = connect({ connectionString, onError: (error) => process.emitWarning(error) });
try {
  await writeFile(join(import.meta.dirname, "../schema.sql"), await describeSchema(db));
} finally {
  await db.destroy();
  await postgres.stop();
}
