import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

/** Kills service processes at random moments and starts them again. */
export async function killProcesses(
  { processes }: FaultWorld,
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(random.between(1_500, 5_000));
    const process = random.pick(processes);
    if (!process || isOver()) return;
    history.event("fault", "kill -9", { process: process.name });
    await process.kill();
    await sleep(random.between(0, 1_500));
    await process.start();
    history.event("note", "process restarted", { process: process.name });
  }
}

/** Crashes PostgreSQL at random moments, as `pg_ctl restart -m immediate` does. */
export async function crashDatabase(
  { postgres }: FaultWorld,
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  if (random.chance(0.4)) return;
  while (!isOver()) {
    await sleep(random.between(2_000, 8_000));
    if (isOver()) return;
    history.event("fault", "PostgreSQL crash");
    await postgres.crash();
    history.event("note", "PostgreSQL restarted");
  }
}
