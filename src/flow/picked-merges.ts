/** A pull request of a card, in as far as a pick asks for it. */
export interface MergedOrNot {
  readonly number: number;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
}

export type PickedMerges =
  /** The pull requests whose commits are picked, in the order they were merged, and the branch they were merged into. */
  | { readonly merged: readonly number[]; readonly into: string }
  /** The one that should be merged first; null where the card has none. */
  | { readonly waitsFor: number | null };

/**
 * Which merges bring a card's work to a release: those into `target`, the branch releases are cut from, or else into the first branch it
 * reached. A merge further on would bring the same changes once more.
 */
export function pickedMerges(pulls: readonly MergedOrNot[], target: string): PickedMerges {
  const merged = pulls.filter(({ state }) => state === "merged").toSorted((a, b) => a.number - b.number);
  const [first] = merged;
  if (!first) return { waitsFor: Math.max(0, ...pulls.map(({ number }) => number)) || null };
  const reached = merged.some(({ targetBranch }) => targetBranch === target) ? target : first.targetBranch;
  const there = merged.filter(({ targetBranch }) => targetBranch === reached);
  return { merged: there.map(({ number }) => number), into: reached };
}
