import type { ForgeClock } from "./clock.ts";

const KEPT_MS = 60 * 60 * 1_000;

/** What repositories are known to lack, by their ids, for an hour: plans and server versions do change. */
export interface Remembered {
  has(forgeId: number): boolean;
  add(forgeId: number): void;
}

export function createRemembered(clock: ForgeClock): Remembered {
  const since = new Map<number, number>();
  return {
    has(forgeId) {
      const at = since.get(forgeId);
      if (at !== undefined && clock.now() - at > KEPT_MS) since.delete(forgeId);
      return since.has(forgeId);
    },
    add: (forgeId) => void since.set(forgeId, clock.now()),
  };
}
