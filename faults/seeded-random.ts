import { seededRandom } from "../sandbox/forge/control/random.ts";

/**
 * Random decisions that are the same for the same seed. Each actor has its own generator, so that
 * its decisions do not depend on the timing of other actors.
 */
export interface SeededRandom {
  /** An integer from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** Undefined for an empty array. */
  pick<T>(from: readonly T[]): T | undefined;
  /** One of the names, with a probability in proportion to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  /** A generator of the same seed for another actor. */
  for(name: string): SeededRandom;
}

export function createRandom(seed: number, name = ""): SeededRandom {
  const next = seededRandom(hashOf(seed, name));
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    chance: (probability) => next() < probability,
    pick: (from) => from[between(0, from.length - 1)],
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [option, weight] of entries) {
        left -= weight;
        if (left < 0) return option;
      }
      throw new Error("There are no weights to choose from.");
    },
    for: (other) => createRandom(seed, `${name}/${other}`),
  };
}

/** FNV-1a over seed and name. */
function hashOf(seed: number, name: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${seed} ${name}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}
