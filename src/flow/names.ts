import { firstCharacters } from "./text.ts";

const MAX_BRANCH_SLUG = 50;

/** Separates letters from their accents, and spells out letters such as ß that do not decompose. */
const toBaseLetters = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll("ß", "ss")
    .replaceAll(/[øØ]/g, "o")
    .replaceAll(/[æÆ]/g, "ae")
    .replaceAll(/[łŁ]/g, "l");

/** A title in at most 50 ASCII letters, digits and hyphens; empty if it has no such characters. */
export function slugOf(title: string): string {
  const ascii = toBaseLetters(title)
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return ascii.slice(0, MAX_BRANCH_SLUG).replaceAll(/^-+|-+$/g, "");
}

/**
 * The name of a card's branch by the flow's pattern, a valid ref name for any title. `attempt` 2
 * and up adds `-2`, `-3`, for when the name is taken.
 */
export function branchNameFor(pattern: string, number: number, title: string, attempt = 1): string {
  const name = pattern
    .replaceAll("{number}", String(number))
    .replaceAll("{slug}", slugOf(title))
    .replaceAll(/[-/.]+(?=\/|$)/g, "");
  return attempt === 1 ? name : `${name}-${attempt}`;
}

/** How many names are tried for a branch until one is free. */
export const MAX_BRANCH_NAMES = 20;

/** As long as the longest title, so that titles that differ only at the end have different slugs. */
const MAX_PAGE_SLUG = 200;

/**
 * The slug of a page: lower case, words joined by hyphens, Latin letters without accents, other
 * scripts unchanged; `page` for a title without letters and digits. The slug of a slug is itself.
 */
export function pageSlugOf(title: string): string {
  const words = toBaseLetters(title.normalize("NFKD").toLowerCase())
    .replaceAll(/(?<=\p{Script=Latin})\p{Mark}+/gu, "")
    .normalize("NFC")
    .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}]+/gu, "-");
  const slug = firstCharacters(words.replace(/^-/, ""), MAX_PAGE_SLUG).replace(/-$/, "");
  return slug === "" ? "page" : slug;
}

/** The first free one of the slug and the slug with `-2`, `-3` and so on. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let free = slug;
  for (let next = 2; isTaken(free); next += 1) {
    const suffix = `-${next}`;
    const stem = firstCharacters(slug, MAX_PAGE_SLUG - suffix.length);
    free = stem.replace(/-$/, "") + suffix;
  }
  return free;
}

/** Git stores a ref as a file: `refs/heads/`, the name and `.lock` have to fit into 255 bytes. */
export const MAX_BRANCH_NAME_BYTES = 239;

const FORBIDDEN = /[\p{Cc}\p{Surrogate} ~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|(^|\/)\.|\.lock(\/|$)/u;

/** By the rules of `git check-ref-format --branch`, by length, and without lone surrogates. */
export const isBranchName = (name: string): boolean =>
  name !== "" &&
  name !== "HEAD" &&
  !FORBIDDEN.test(name) &&
  new TextEncoder().encode(name).length <= MAX_BRANCH_NAME_BYTES;

const FULL_SHA = /^[0-9a-f]{40}$/i;

/** As for branches, but a tag must not look like a commit. */
export const isTagName = (name: string): boolean =>
  isBranchName(name) && name !== "@" && !FULL_SHA.test(name);

/** For comparing names without regard to case and to the encoding of accents. */
export const foldName = (name: string): string => name.normalize("NFC").toLowerCase();

/** The host of a URL: a name without a final dot, or an IP address without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
