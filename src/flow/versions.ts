/** What the names of tags say about versions (https://semver.org). */

interface Version {
  /** What precedes the numbers, such as `v` or `web@`. */
  readonly prefix: string;
  /** The prefix without `v`. Versions of other series are not compared. */
  readonly series: string;
  readonly numbers: readonly number[];
  readonly isPrerelease: boolean;
}

const VERSION =
  /^((?:.*[/@])?[A-Za-z_-]*?)(\d{1,15}(?:\.\d{1,15}){0,3})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** A day, such as `20260131`, also with a time or a number after it. */
const DAY = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4,6})?(?:\.\d+)?$/;

/** The version in a tag name; null for names such as `nightly`, `2026-01-31` or `build-20260131`. */
function versionIn(tagName: string): Version | null {
  const [, prefix = "", numbers = "", suffix = ""] = VERSION.exec(tagName) ?? [];
  const isDate = DAY.test(numbers) || (/^\d/.test(suffix) && numbers.split(".").length < 3);
  if (numbers === "" || isDate) return null;
  const series = prefix.replace(/v$/i, "");
  return { prefix, series, numbers: numbers.split(".").map(Number), isPrerelease: suffix !== "" };
}

/** Whether a tag names a prerelease, such as `v2.0.0-rc.1`. */
const isPrerelease = (tagName: string): boolean => versionIn(tagName)?.isPrerelease ?? false;

/** A version that is to be released. */
export interface RequestedVersion {
  readonly tagName: string;
  readonly prerelease?: boolean | undefined;
  readonly latest?: boolean | undefined;
}

/** Whether the other tags decide if a version becomes the latest. */
export const dependsOnTags = ({
  tagName,
  prerelease = isPrerelease(tagName),
  latest,
}: RequestedVersion): boolean => latest === undefined && !prerelease;

/**
 * How a version is released in a repository with these tags; null if they are unknown. What the
 * request says comes first. `isLatest` is null if only the tags decide it.
 */
export function releasedAs(
  version: RequestedVersion,
  tags: readonly string[] | null,
): { readonly isPrerelease: boolean; readonly isLatest: boolean | null } {
  const { tagName, prerelease = isPrerelease(tagName), latest } = version;
  return { isPrerelease: prerelease, isLatest: latest ?? (!prerelease && isLatest(tagName, tags)) };
}

/**
 * Whether a new release should become the repository's latest: no other tag has a higher version. A
 * prerelease never does, and does not count. A tag without a version does, as on GitHub.
 */
function isLatest(tagName: string, tags: readonly string[] | null): boolean | null {
  if (isPrerelease(tagName)) return false;
  const version = versionIn(tagName);
  if (version === null) return true;
  if (tags === null) return null;
  const others = tags.map(versionIn).filter((other) => other?.series === version.series);
  return !others.some((other) => other && !other.isPrerelease && compare(other, version) > 0);
}

/**
 * The version after the highest one among the tags, which are listed newest first: the next minor
 * one, or the one that the highest prerelease prepares. Null if no tag has a version.
 */
export function nextVersion(tags: readonly string[]): string | null {
  const versions = tags.map(versionIn).filter((version) => version !== null);
  const [newest] = versions;
  if (!newest) return null;
  const [highest] = versions
    .filter(({ series }) => series === newest.series)
    .toSorted((a, b) => compare(b, a));
  const { prefix, numbers, isPrerelease: isPrepared } = highest ?? newest;
  if (isPrepared) return prefix + numbers.join(".");
  const minor = Math.min(1, numbers.length - 1);
  return (
    prefix + numbers.map((number, at) => (at < minor ? number : at === minor ? number + 1 : 0)).join(".")
  );
}

/** Negative if `a` is lower than `b`. Prereleases of the same version are equal. */
function compare(a: Version, b: Version): number {
  for (let at = 0; at < Math.max(a.numbers.length, b.numbers.length); at += 1) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(b.isPrerelease) - Number(a.isPrerelease);
}
