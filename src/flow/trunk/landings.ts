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
  readonly reverts: Undoing | null;
}

/** What a commit says that it undoes. It is a revert only if that has landed. */
export interface Undoing {
  /** The best evidence first. */
  readonly undone: readonly Undone[];
  /** The commit that undoes it. */
  readonly by: string;
}

/** A commit may be abbreviated. */
export type Undone =
  | { readonly sha: string }
  | { readonly fullName: string | null; readonly prNumber: number }
  | { readonly title: string };

/**
 * Returns the landings oldest first. `line` is newest first. The newest commit of a pull
 * request gives its title and time. A commit dated before or after the days of the history has the
 * time of the one before it.
 */
export function landingsOf(
  line: readonly TrunkCommit[],
  days: { readonly since: Date; readonly until: Date },
): Landing[] {
  const landings = new Map<string, Landing>();
  const isPossible = ({ committedAt }: TrunkCommit): boolean =>
    new Date(committedAt) >= days.since && new Date(committedAt) <= days.until;
  let last = line.findLast(isPossible)?.committedAt ?? days.until.toISOString();
  for (const commit of line.toReversed()) {
    const { sha, authorLogin, prNumber } = commit;
    const key = prNumber === null ? sha : `#${prNumber}`;
    const at = isPossible(commit) ? commit.committedAt : last;
    last = at;
    const earlier = landings.get(key);
    // Inserted again at the end, in the order of the newest commits.
    landings.delete(key);
    const own = revertIn(commit);
    // A rebased pull request is a revert only if all its commits are.
    const reverts = earlier === undefined ? own : earlier.reverts && own;
    landings.set(key, { key, sha, title: titleOf(commit.message), at, authorLogin, prNumber, reverts });
  }
  return [...landings.values()];
}

const titleOf = (message: string): string => message.split("\n", 1)[0] ?? "";

/** A merge undoes something if its message says so, or all commits that it added do. */
function revertIn({ sha, message, mergedCommits }: TrunkCommit): Undoing | null {
  const undone = undoneBy(message);
  if (undone.length > 0) return { undone, by: sha };
  const all = (mergedCommits ?? []).map((commit) => ({ by: commit.sha, undone: undoneBy(commit.message) }));
  const first = all.at(-1);
  return first === undefined || all.some((each) => each.undone.length === 0) ? null : first;
}

const SENTENCE = /^This reverts commit ([0-9a-f]{7,40})\b/m;
const PULL_REQUEST = /^Reverts (?:([\w.-]+\/[\w.-]+))?#(\d{1,9})\s*$/m;
/** Titles of reverts, and of reverts of reverts, which git and GitHub write. */
const REVERT = /^Revert "(.+)"(?: \(#\d+\))?$/;
const REAPPLY = /^Reapply "(.+)"(?: \(#\d+\))?$/;

/**
 * What a message says in the words of git and GitHub. A squash message may list the messages of all
 * its commits, so git's sentence counts only at the beginning, or below the title of a revert.
 */
function undoneBy(message: string): Undone[] {
  const title = titleOf(message).trim();
  const reverted = REVERT.exec(title)?.[1];
  const reapplied = REAPPLY.exec(title)?.[1];
  const undoneTitle = reverted ?? (reapplied === undefined ? undefined : `Revert "${reapplied}"`);
  const isRevert = undoneTitle !== undefined;
  const beginning = message.split(/\n\s*\n/, 2).join("\n");
  const sha = SENTENCE.exec(isRevert ? message : beginning)?.[1];
  const [, fullName = null, prNumber] = (isRevert && PULL_REQUEST.exec(message)) || [];
  return [
    ...(sha === undefined ? [] : [{ sha }]),
    ...(prNumber === undefined ? [] : [{ fullName, prNumber: Number(prNumber) }]),
    ...(isRevert ? [{ title: undoneTitle }] : []),
  ];
}

/** A title without the number that GitHub appends when it squashes. */
export const plainTitleOf = (title: string): string => title.trim().replace(/ \(#\d+\)$/, "");

/** What has landed on the branch before the landings that are compared with it. */
export interface LandedBefore {
  readonly landings: readonly Pick<Landing, "sha" | "title" | "prNumber">[];
  /** Other commits that the branch contains. */
  readonly shas: ReadonlySet<string>;
  readonly fullName: string;
}

export interface Revert {
  /** The commit that is undone. */
  readonly sha: string;
  readonly by: string;
}

/** The landings, oldest first, with what they revert, if it has landed before them. */
export function withReverts(
  landings: readonly Landing[],
  before: LandedBefore,
): (Omit<Landing, "reverts"> & { readonly reverts: Revert | null })[] {
  const landed = [...before.landings];
  return landings.map((landing) => {
    const { reverts } = landing;
    const sha = reverts?.undone
      .map((undone) => findUndone(undone, landed, before))
      .find((each) => each !== null);
    landed.push(landing);
    return { ...landing, reverts: reverts && sha ? { sha, by: reverts.by } : null };
  });
}

/** The newest landing or commit that is meant; null if none has landed. */
function findUndone(
  undone: Undone,
  landed: readonly Pick<Landing, "sha" | "title" | "prNumber">[],
  { shas, fullName }: LandedBefore,
): string | null {
  if ("sha" in undone) {
    const isMeant = (sha: string): boolean => sha.startsWith(undone.sha);
    return landed.findLast(({ sha }) => isMeant(sha))?.sha ?? [...shas].find(isMeant) ?? null;
  }
  if ("prNumber" in undone) {
    const isHere = (undone.fullName ?? fullName).toLowerCase() === fullName.toLowerCase();
    return (isHere && landed.findLast(({ prNumber }) => prNumber === undone.prNumber)?.sha) || null;
  }
  const title = plainTitleOf(undone.title);
  return landed.findLast((each) => plainTitleOf(each.title) === title)?.sha ?? null;
}

/**
 * Which of these landings, oldest first, are reverts. A revert of a revert is not: the work is
 * back. `wasRevert` is called for commits that landed before these.
 */
export function revertsAmong(
  landings: readonly { readonly sha: string; readonly reverts: Revert | null }[],
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
