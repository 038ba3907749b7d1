import { spelledOut } from "./branch-name.ts";

/** As many characters as a title may have: two titles that differ only at their ends still differ as slugs. */
const MAX_SLUG = 200;

/**
 * A page's title as links name it: lower case, words joined by hyphens, Latin letters without their accents, other scripts as they are.
 * A title without any letter or digit is `page`. The slug of a slug is the slug itself.
 */
export function pageSlugOf(title: string): string {
  const words = spelledOut(title.normalize("NFKD").toLowerCase())
    .replaceAll(/(?<=\p{Script=Latin})\p{Mark}+/gu, "")
    .normalize("NFC")
    .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}]+/gu, "-");
  const slug = Array.from(words.replace(/^-/, "")).slice(0, MAX_SLUG).join("").replace(/-$/, "");
  return slug === "" ? "page" : slug;
}

/** The slug itself, or with `-2`, `-3` … behind it: the first that is not taken. */
export function freeSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let free = slug;
  for (let next = 2; isTaken(free); next += 1) {
    const suffix = `-${next}`;
    const stem = Array.from(slug)
      .slice(0, MAX_SLUG - suffix.length)
      .join("");
    free = stem.replace(/-$/, "") + suffix;
  }
  return free;
}
