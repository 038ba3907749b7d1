/** A commit in the first-parent line of a trunk. */
export interface TrunkCommit {
  readonly sha: string;
  readonly message: string;
  /** ISO 8601. */
  readonly committedAt: string;
  /** Null when GitHub knows no account of the author. */
  readonly authorLogin: string | null;
  readonly prNumber: number | null;
  /**
   * The commits that a merge added, newest first. Empty for other commits, null when not all are
   * known.
   */
  readonly mergedCommits: readonly { readonly sha: string; readonly message: string }[] | null;
}

/** A pull request that reached a trunk with one or several commits, or a commit without one. */
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

/**
 * Returns the landings oldest first. `line` is newest first. The newest commit of a pull
 * request gives its title and time.
 */
export function landingsOf(line: readonly TrunkCommit[]): Landing[] {
  const landings = new Map<string, Landing>();
  for (const commit of line.toReversed()) {
    const { sha, committedAt, authorLogin, prNumber } = commit;
    const key = prNumber === null ? sha : `#${prNumber}`;
    const title = commit.message.split("\n", 1)[0] ?? "";
    const earlier = landings.get(key);
    // Inserted again at the end, in the order of the newest commits.
    landings.delete(key);
    const own = revertIn(commit);
    // A rebased pull request is a revert only if all its commits are.
    const reverts = earlier === undefined ? own : earlier.reverts && own;
    landings.set(key, { key, sha, title, at: committedAt, authorLogin, prNumber, reverts });
  }
  return [...landings.values()];
}

/**
 * Only Git's own text in the message counts, not titles or descriptions. A merge is a revert if all
 * commits that it added are.
 */
function revertIn({ sha, message, mergedCommits }: TrunkCommit): Revert | null {
  const undone = undoneBy(message);
  if (undone !== null) return { sha: undone, by: sha };
  const all = (mergedCommits ?? []).map((commit) => ({ by: commit.sha, undone: undoneBy(commit.message) }));
  const first = all.at(-1);
  if (first === undefined || all.some((each) => each.undone === null)) return null;
  return { sha: first.undone ?? "", by: first.by };
}

const undoneBy = (message: string): string | null =>
  /^This reverts commit ([0-9a-f]{40})\b/m.exec(message)?.[1] ?? null;

/**
 * Which of these landings, oldest first, are reverts. A revert of a revert is not: the work is
 * back. `wasRevert` is called for commits that landed before these.
 */
export function revertsAmong(
  landings: readonly Landing[],
  wasRevert: (sha: string) => boolean,
): ReadonlySet<string> {
  const found = new Map<string, boolean>();
  for (const { sha, reverts } of landings) {
    const isRevert = reverts !== null && !(found.get(reverts.sha) ?? wasRevert(reverts.sha));
    found.set(sha, isRevert);
    if (reverts !== null) found.set(reverts.by, isRevert);
  }
  return new Set([...found].filter(([, isRevert]) => isRevert).map(([sha]) => sha));
}

/** Rounded to four decimals; null for an empty list. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const high = sorted[Math.floor(sorted.length / 2)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  if (high === undefined || low === undefined) return null;
  return Math.round(((low + high) / 2) * 10_000) / 10_000;
}
