import { seededRandom } from "../sandbox/forge/control/random.ts";

/** Decisions that the same seed makes again. Each actor has dice of its own, so that one's luck does not depend on when another threw. */
export interface Dice {
  /** From `least` to `most`, both possible. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  /** Undefined where there is nothing to pick. */
  pick<T>(from: readonly T[]): T | undefined;
  /** One of these names, each as often as its number says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  /** Dice of the same seed for somebody else. */
  for(name: string): Dice;
}

export function makeDice(seed: number, name = ""): Dice {
  const random = seededRandom(mixed(seed, name));
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  return {
    between,
    chance: (probability) => random() < probability,
    pick: (from) => from[between(0, from.length - 1)],
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [option, weight] of entries) {
        left -= weight;
        if (left < 0) return option;
      }
      throw new Error("nothing to choose from");
    },
    for: (other) => makeDice(seed, `${name}/${other}`),
  };
}

/** FNV-1a over the name, begun with the seed. */
function mixed(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const character of `${seed} ${name}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return hash;
}
