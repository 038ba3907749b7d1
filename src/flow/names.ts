const MAX_BRANCH_SLUG = 50;

/** Text with its letters taken apart from their accents, and Latin letters that have no plain twin spelled out. */
export const spelledOut = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll("ß", "ss")
    .replaceAll(/[øØ]/g, "o")
    .replaceAll(/[æÆ]/g, "ae")
    .replaceAll(/[łŁ]/g, "l");

/**
 * A title as part of a branch name: ASCII letters, digits and single hyphens, at most 50 characters; empty when nothing of
 * the title can be written so.
 */
export function slugOf(title: string): string {
  const ascii = spelledOut(title)
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return ascii.slice(0, MAX_BRANCH_SLUG).replaceAll(/^-+|-+$/g, "");
}

/**
 * The name of a card's branch after the flow's pattern (`card/{number}-{slug}`). Always a valid ref name whatever the title;
 * `attempt` 2 and up add `-2`, `-3` where a foreign branch has the name already.
 */
export function branchNameFor(pattern: string, number: number, title: string, attempt = 1): string {
  const name = pattern
    .replaceAll("{number}", String(number))
    .replaceAll("{slug}", slugOf(title))
    .replaceAll(/[-/.]+(?=\/|$)/g, "");
  return attempt === 1 ? name : `${name}-${attempt}`;
}

/** As many characters as a title may have: two titles that differ only at their ends still differ as slugs. */
const MAX_PAGE_SLUG = 200;

/**
 * A page's title as links name it: lower case, words joined by hyphens, Latin letters without their accents, other scripts as they are.
 * A title without any letter or digit is `page`. The slug of a slug is the slug itself.
 */
export function pageSlugOf(title: string): string {
  const words = spelledOut(title.normalize("NFKD").toLowerCase())
    .replaceAll(/(?<=\p{Script=Latin})\p{Mark}+/gu, "")
    .normalize("NFC")
    .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}]+/gu, "-");
  const slug = Array.from(words.replace(/^-/, "")).slice(0, MAX_PAGE_SLUG).join("").replace(/-$/, "");
  return slug === "" ? "page" : slug;
}

/** The slug itself, or with `-2`, `-3` … behind it: the first that is not taken. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let free = slug;
  for (let next = 2; isTaken(free); next += 1) {
    const suffix = `-${next}`;
    const stem = Array.from(slug)
      .slice(0, MAX_PAGE_SLUG - suffix.length)
      .join("");
    free = stem.replace(/-$/, "") + suffix;
  }
  return free;
}

/**
 * The longest branch name in bytes: a ref is a file for git and GitHub, whose name with `refs/heads/` before it and `.lock` behind it has to
 * fit into 255.
 */
export const MAX_BRANCH_NAME_BYTES = 239;

const FORBIDDEN = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|(^|\/)\.|\.lock(\/|$)/u;

/** Whether a branch may have this name, by the rules of `git check-ref-format --branch` and by its length. */
export const isBranchName = (name: string): boolean =>
  name !== "" &&
  name !== "HEAD" &&
  !FORBIDDEN.test(name) &&
  new TextEncoder().encode(name).length <= MAX_BRANCH_NAME_BYTES;

const FULL_SHA = /^[0-9a-f]{40}$/i;

/** Whether a tag may have this name: as a branch, and not to be taken for a commit. */
export const isTagName = (name: string): boolean =>
  isBranchName(name) && name !== "@" && !FULL_SHA.test(name);

/** A name as names are compared: two that differ by case only, or by how their accents are written, are one. */
export const foldName = (name: string): string => name.normalize("NFC").toLowerCase();
