import type { SeededRandom } from "../seeded-random.ts";
import type { SoakWorld } from "../soak/world.ts";

/** What an attack gets: the service under attack and a place to report findings. */
export interface Scene {
  readonly world: SoakWorld;
  /** Decisions of this attack; the same seed makes the same ones. */
  readonly random: SeededRandom;
  /** True when the time of the run is over. */
  isOver(): boolean;
  /** Counts one attempt. */
  tried(): void;
  /** Records something the service must never do. */
  found(finding: string): void;
}

/** Attacks until the scene is over. What it throws is a finding as well. */
export type Attack = (scene: Scene) => Promise<void>;
