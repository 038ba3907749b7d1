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
export const wikiLinksOf = (markdown: string): string[] => [...new Set(wikiTargetsOf(markdown).values())];

/** The same links as they are written, without `|text`, with the slug of each. */
export function wikiTargetsOf(markdown: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  const slugs = new Set<string>();
  if (!markdown.includes("[[")) return targets;
  for (const { shown } of proseOf(markdown)) {
    for (const [, inside = ""] of shown.matchAll(LINK)) {
      const target = linkTargetOf(inside);
      if (target === null || targets.has(target)) continue;
      const slug = pageSlugOf(target);
      targets.set(target, slug);
      if (slugs.add(slug).size === MAX_LINKS) return targets;
    }
  }
  return targets;
}

/** The text before the bar, which is escaped in a table; null when it cannot be a title or slug. */
function linkTargetOf(inside: string): string | null {
  const [before = ""] = inside.split("|", 1);
  const target = (before.length < inside.length ? before.replace(/\\$/, "") : before).trim();
  return target === "" || target.length > 2 * MAX_TARGET || Array.from(target).length > MAX_TARGET
    ? null
    : target;
}
