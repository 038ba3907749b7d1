/** A service with PostgreSQL only. It prints the connection string, and drains on SIGINT. */
import { setTimeout as sleep } from "node:timers/promises";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres } from "../../sandbox/postgres/start-postgres.ts";

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function serve(dir: string, throwAway: boolean): Promise<void> {
  const dataDir = await lockDataDir(dir, process.pid);
  const postgres = await startPostgres({ dataDir, throwAway });
  const interrupted = new Promise((resolve) => process.once("SIGINT", resolve));
  print(postgres.connectionString);
  await interrupted;
  print("draining");
  await sleep(1000);
  await postgres.stop();
  await dataDir.release();
  print("stopped");
}

serve(process.argv[2] ?? "", process.argv[3] === "throw-away").catch((error: unknown) => {
  print(`failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
