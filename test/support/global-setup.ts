import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateKey } from "../../sandbox/forge/app-identity.ts";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { type RunningPostgres, startPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { migrate } from "../../src/store/db/migrate.ts";
import { addDelays } from "./database/delays.ts";
import { createTemplate, serverVariable } from "./database/database.ts";
import { privateKeyVariable } from "./forge/private-key.ts";

declare global {
  /** Passed to the teardown, which Jest loads separately. */
  var testPostgres: RunningPostgres | undefined;
}

/** One PostgreSQL for the whole run; it ends with Jest, even after SIGKILL, and its data is deleted. */
export default async function globalSetup(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-test-"));
  const dataDir = await lockDataDir(dir, process.pid);
  const postgres = await startPostgres({ dataDir, throwAway: true });
  globalThis.testPostgres = postgres;
  // Jest's workers inherit it.
  process.env[serverVariable] = postgres.connectionString;
  process.env[privateKeyVariable] = await makePrivateKey();
  await createTemplate(async (connectionString) => {
    await migrate(connectionString);
    if (process.env["DELAYS"] === "1") await addDelays(connectionString);
  });
}
