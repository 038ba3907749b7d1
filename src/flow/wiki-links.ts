import { proseOf } from "./markdown-prose.ts";
import { pageSlugOf } from "./names.ts";

const MAX_LINKS = 500;
/** The longest title of a page. */
const MAX_TARGET = 200;

const LINK = /\[\[([^[\]\n]+)\]\]/g;

/**
 * The slugs of the first 500 pages that a Markdown text links to by `[[Title]]`, `[[slug]]` or
 * `[[slug|text]]`, but not in code or after a backslash. In the order of the text, each once. Takes
 * linear time.
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

/** The text before the bar, which is escaped in a table; null when it cannot be a title or slug. */
function targetOf(inside: string): string | null {
  const [before = ""] = inside.split("|", 1);
  const target = (before.length < inside.length ? before.replace(/\\$/, "") : before).trim();
  return target === "" || target.length > 2 * MAX_TARGET || Array.from(target).length > MAX_TARGET
    ? null
    : target;
}
