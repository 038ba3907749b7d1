/** A process with its own PostgreSQL. Runs each seed it receives and sends back the result. */
import { once } from "node:events";
import { runSeed, type SeedOptions } from "./run-seed.ts";
import { startCrashingPostgres } from "./world/postgres.ts";

export type SeedOrder = Omit<SeedOptions, "postgres">;

// The parent may already be gone. Exiting also ends the services and PostgreSQL.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const disconnected = once(process, "disconnect");
const postgres = await startCrashingPostgres();
let running: Promise<unknown> = Promise.resolve();
process.on("message", (order) => {
  running = runSeed({ ...(order as SeedOrder), postgres }).then((result) => process.send?.(result));
  running.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
await disconnected;
await postgres.stop();
process.exit(0);
