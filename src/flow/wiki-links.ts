import { proseOf } from "./markdown-prose.ts";
import { pageSlugOf } from "./names.ts";

/** Links beyond this many different ones are text. */
export const MAX_LINKS = 500;
/** No title is longer, so nothing longer names a page. */
const MAX_TARGET = 200;

/** Between two pairs of brackets: anything but brackets, on one line. */
const LINK = /\[\[([^[\]\n]+)\]\]/g;

/**
 * The pages a Markdown text links to, as slugs, each once, in the order of the text: `[[Title]]`, `[[slug]]` and `[[slug|text]]`, but not
 * in code and not behind a backslash. At most 500. Takes time in proportion to the text, whatever the text.
 */
export function wikiLinksOf(markdown: string): string[] {
  const slugs = new Set<string>();
  if (!markdown.includes("[[")) return [];
  for (const { shown } of proseOf(markdown)) {
    for (const [, inside = ""] of shown.matchAll(LINK)) {
      const target = targetOf(inside);
      if (target !== null) slugs.add(pageSlugOf(target));
      if (slugs.size === MAX_LINKS) return [...slugs];
    }
  }
  return [...slugs];
}

/** What stands before the bar (in a table it has a backslash before it), or null where that names nothing. */
function targetOf(inside: string): string | null {
  const [before = ""] = inside.split("|", 1);
  const target = (before.length < inside.length ? before.replace(/\\$/, "") : before).trim();
  return target === "" || target.length > 2 * MAX_TARGET || Array.from(target).length > MAX_TARGET
    ? null
    : target;
}
