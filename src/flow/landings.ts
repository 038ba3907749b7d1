/** A commit in the first-parent line of a trunk branch, as the forge tells it. */
export interface LineCommit {
  readonly sha: string;
  readonly message: string;
  readonly committedAt: string;
  readonly authorLogin: string | null;
  readonly prNumber: number | null;
  readonly brought: readonly { readonly sha: string; readonly message: string }[] | null;
}

/** One thing that landed on a trunk branch: a pull request, however many commits it left there, or a commit that came without one. */
export interface Landing {
  readonly key: string;
  readonly sha: string;
  readonly title: string;
  readonly at: string;
  readonly authorLogin: string | null;
  readonly prNumber: number | null;
  readonly reverts: Revert | null;
}

export interface Revert {
  /** The commit that is undone. */
  readonly sha: string;
  /** The commit that undoes it. */
  readonly by: string;
}

/** The landings of a line given newest first, oldest first. Landings of one pull request are one, told by the newest commit. */
export function landingsOf(line: readonly LineCommit[]): Landing[] {
  const landings = new Map<string, Landing>();
  for (const commit of line.toReversed()) {
    const { sha, committedAt, authorLogin, prNumber } = commit;
    const key = prNumber === null ? sha : `#${prNumber}`;
    const title = commit.message.split("\n", 1)[0] ?? "";
    const earlier = landings.get(key);
    // Kept where its newest commit stands.
    landings.delete(key);
    const own = revertIn(commit);
    // A rebased pull request reverts something only where all of it does.
    const reverts = earlier === undefined ? own : earlier.reverts && own;
    landings.set(key, { key, sha, title, at: committedAt, authorLogin, prNumber, reverts });
  }
  return [...landings.values()];
}

/** Git's own words are the proof; titles and descriptions are not. A merge reverts what every commit that it brings reverts. */
function revertIn({ sha, message, brought }: LineCommit): Revert | null {
  const undone = undoneBy(message);
  if (undone !== null) return { sha: undone, by: sha };
  const all = (brought ?? []).map((commit) => ({ by: commit.sha, undone: undoneBy(commit.message) }));
  const first = all.at(-1);
  if (first === undefined || all.some((each) => each.undone === null)) return null;
  return { sha: first.undone ?? "", by: first.by };
}

const undoneBy = (message: string): string | null =>
  /^This reverts commit ([0-9a-f]{40})\b/m.exec(message)?.[1] ?? null;

/**
 * Which of some landings, oldest first, are reverts. One that undoes a revert is none: the work is back. `isRevert` tells of what landed
 * before, by a commit's name.
 */
export function revertsAmong(
  landings: readonly Landing[],
  isRevert: (sha: string) => boolean,
): ReadonlySet<string> {
  const found = new Map<string, boolean>();
  for (const { sha, reverts } of landings) {
    const is = reverts !== null && !(found.get(reverts.sha) ?? isRevert(reverts.sha));
    found.set(sha, is);
    if (reverts !== null) found.set(reverts.by, is);
  }
  return new Set([...found].filter(([, is]) => is).map(([sha]) => sha));
}

/** The middle of some numbers, to two decimals; null where there are none. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const high = sorted[Math.floor(sorted.length / 2)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  if (high === undefined || low === undefined) return null;
  return Math.round(((low + high) / 2) * 100) / 100;
}
