import { piecesOf } from "./markdown-pieces.ts";
import { proseOf } from "./markdown-prose.ts";
import { pageSlugOf } from "./names.ts";

const MAX_LINKS = 500;
/** The longest title of a page. */
const MAX_TARGET = 200;

const LINK = /\[\[([^[\]\n]+)\]\]/g;

/** A page that a text links to: by its title, or by the title before a `#` and a heading. */
export interface WikiLink {
  readonly slug: string;
  /** The slug of the title before the `#`; null without one. */
  readonly pageSlug: string | null;
}

const keyOf = ({ slug, pageSlug }: WikiLink): string => `${slug}#${pageSlug ?? ""}`;

/** The links, each page and heading once. */
export const distinctLinks = (links: Iterable<WikiLink>): WikiLink[] => [
  ...new Map([...links].map((link) => [keyOf(link), link])).values(),
];

/**
 * The first 500 links of a Markdown text to other pages by `[[Title]]`, `[[slug]]`,
 * `[[Title#heading]]` or `[[slug|text]]`, but not in code or after a backslash: as they are written,
 * without `|text`. In the order of the text, each once. Takes linear time, in steps of at most 50
 * milliseconds.
 */
export function* readWikiTargets(markdown: string): Generator<void, ReadonlyMap<string, WikiLink>> {
  const targets = new Map<string, WikiLink>();
  const keys = new Set<string>();
  for (const piece of piecesOf(markdown.replaceAll(/\r\n?/g, "\n"))) {
    if (!piece.includes("[[")) continue;
    for (const { shown } of proseOf(piece)) {
      for (const [, inside = ""] of shown.matchAll(LINK)) {
        const target = linkTargetOf(inside);
        if (target === null || targets.has(target) || isOwnHeading(target)) continue;
        const link = wikiLinkTo(target);
        targets.set(target, link);
        if (keys.add(keyOf(link)).size === MAX_LINKS) return targets;
      }
    }
    yield;
  }
  return targets;
}

/** A `#` starts a heading if a text follows directly: `C# guide` has none. */
export function wikiLinkTo(target: string): WikiLink {
  const at = target.search(/#(?=\S)/);
  return { slug: pageSlugOf(target), pageSlug: at < 0 ? null : pageSlugOf(target.slice(0, at)) };
}

/** `[[#heading]]` is the page itself. */
const isOwnHeading = (target: string): boolean => /^#\S/.test(target);

/** The text before the bar, which is escaped in a table; null when it cannot be a title or slug. */
function linkTargetOf(inside: string): string | null {
  const [before = ""] = inside.split("|", 1);
  const target = (before.length < inside.length ? before.replace(/\\$/, "") : before).trim();
  return target === "" || target.length > 2 * MAX_TARGET || Array.from(target).length > MAX_TARGET
    ? null
    : target;
}
