/** One lane of a run, a process of its own: it starts a PostgreSQL, plays the seeds it is sent on that, and answers each with what came of it. */
import { once } from "node:events";
import { playSeed, type SeedOptions } from "./play-seed.ts";
import { startCrashingPostgres } from "./world/postgres.ts";

export type Order = Omit<SeedOptions, "postgres">;

// Whoever gives the orders may be gone; the services and PostgreSQL are not to outlive us.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const ending = once(process, "disconnect");
const postgres = await startCrashingPostgres();
let playing: Promise<unknown> = Promise.resolve();
process.on("message", (order) => {
  playing = playSeed({ ...(order as Order), postgres }).then((played) => process.send?.(played));
  playing.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
await ending;
await postgres.stop();
process.exit(0);
