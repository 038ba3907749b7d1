/**
 * Loaded into the service before its own code. SIGUSR2 starts a garbage collection. SOAK_LEAK names
 * a resource to leak every SOAK_LEAK_MS, to show that the soak test detects it.
 */
import { randomBytes } from "node:crypto";
import { openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import pg from "pg";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => collect());

const leaked = [];

async function connect() {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const leaks = {
  heap: () => leaked.push(Array.from({ length: 30_000 }, () => ({ leaked: true }))),
  files: () => leaked.push(openSync(process.execPath)),
  connections: async () => leaked.push(await connect()),
  jobs: async () => {
    leaked[0] ??= await connect();
    await leaked[0].query("select graphile_worker.add_job('an-unknown-task') from generate_series(1, 5)");
  },
  temporary: () => writeFileSync(join(tmpdir(), randomBytes(8).toString("hex")), ""),
};

const leak = leaks[process.env.SOAK_LEAK];
if (leak) setInterval(() => void leak(), Number(process.env.SOAK_LEAK_MS)).unref();
