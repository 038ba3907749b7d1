import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";

/** Crashes PostgreSQL and lets it recover, as `pg_ctl restart -m immediate` does. */
export async function crashDatabase(
  { postgres }: FaultWorld,
  dice: Dice,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  if (dice.chance(0.4)) return;
  while (!isOver()) {
    await sleep(dice.between(2_000, 8_000));
    if (isOver()) return;
    history.event("fault", "PostgreSQL crashes");
    await postgres.crash();
    history.event("note", "PostgreSQL is back");
  }
}
