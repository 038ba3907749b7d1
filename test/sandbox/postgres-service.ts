/**
 * A service reduced to its PostgreSQL, for the tests to kill: starts it on the data directory given, says its connection
 * string, and on SIGINT drains for a second before it stops.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres } from "../../sandbox/postgres/start-postgres.ts";

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function serve(dir: string, throwAway: boolean): Promise<void> {
  const dataDir = await lockDataDir(dir, process.pid);
  const postgres = await startPostgres({ dataDir, throwAway });
  const interrupted = new Promise((resolve) => process.once("SIGINT", resolve));
  say(postgres.connectionString);
  await interrupted;
  say("draining");
  await sleep(1000);
  await postgres.stop();
  await dataDir.release();
  say("stopped");
}

serve(process.argv[2] ?? "", process.argv[3] === "throw-away").catch((error: unknown) => {
  say(`failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
