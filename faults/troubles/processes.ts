import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

/** Kills processes at any moment, and starts them again after a while. */
export async function killProcesses(
  { processes }: FaultWorld,
  dice: Dice,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(dice.between(1_500, 5_000));
    const process = dice.pick(processes);
    if (!process || isOver()) return;
    history.event("fault", "kill -9", { process: process.name });
    await process.kill();
    await sleep(dice.between(0, 1_500));
    await process.start();
    history.event("note", "started again", { process: process.name });
  }
}
