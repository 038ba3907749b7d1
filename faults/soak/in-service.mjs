/**
 * Loaded into the service before its own code. SIGUSR2 makes it collect garbage, so that what is measured is what is held. SOAK_LEAK names
 * what is lost on purpose, every SOAK_LEAK_MS, so that the soak can be seen to fail.
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

const lost = [];

async function connected() {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const leaks = {
  heap: () => lost.push(Array.from({ length: 30_000 }, () => ({ kept: true }))),
  files: () => lost.push(openSync(process.execPath)),
  connections: async () => lost.push(await connected()),
  jobs: async () => {
    lost[0] ??= await connected();
    await lost[0].query("select graphile_worker.add_job('a-task-nobody-knows') from generate_series(1, 5)");
  },
  temporary: () => writeFileSync(join(tmpdir(), randomBytes(8).toString("hex")), ""),
};

const leak = leaks[process.env.SOAK_LEAK];
if (leak) setInterval(() => void leak(), Number(process.env.SOAK_LEAK_MS)).unref();
