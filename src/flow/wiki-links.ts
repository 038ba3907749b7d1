import { proseOf } from "./markdown-prose.ts";
import { pageSlugOf } from "./page-slug.ts";

/** Links beyond this many different ones are text. */
export const MAX_LINKS = 500;
/** No title is longer, so nothing longer names a page. */
const MAX_TARGET = 200;

/** Between two pairs of brackets: anything but brackets, on one line. */
const LINK = /\[\[([^[\]\n]+)\]\]/g;
const MASK = "\uFFFF";

/**
 * The pages a Markdown text links to, as slugs, each once, in the order of the text: `[[Title]]`, `[[slug]]` and `[[slug|text]]`, but not
 * in code and not behind a backslash. At most 500. Takes time in proportion to the text, whatever the text.
 */
export function wikiLinksOf(markdown: string): string[] {
  const slugs = new Set<string>();
  if (!markdown.includes("[[")) return [];
  for (const prose of proseOf(markdown)) {
    for (const { index, 0: link } of masked(prose).matchAll(LINK)) {
      const target = targetOf(prose.slice(index + 2, index + link.length - 2));
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

const TOKEN = /\\[!-/:-@[-`{-~]|`+/g;

/** The same text with its code spans and escaped characters blotted out, character for character. */
function masked(prose: string): string {
  const endOfCode = codeEnds(prose);
  const parts: string[] = [];
  let plainFrom = 0;
  for (const { index, 0: token } of prose.matchAll(TOKEN)) {
    if (index < plainFrom) continue;
    const after = index + token.length;
    const end = token.startsWith("\\") ? after : endOfCode(after, token.length);
    if (end === null) continue;
    parts.push(prose.slice(plainFrom, index), prose.slice(index, end).replaceAll(/[^\n]/g, MASK));
    plainFrom = end;
  }
  return parts.join("") + prose.slice(plainFrom);
}

/**
 * Answers where code that begins at `from` ends: behind the next run of as many backticks. To be asked from left to right: it never looks
 * back, so that all answers together cost one walk over the text.
 */
function codeEnds(prose: string): (from: number, length: number) => number | null {
  const runs = new Map<number, { readonly starts: number[]; next: number }>();
  for (const { index, 0: run } of prose.matchAll(/`+/g)) {
    const same = runs.get(run.length);
    if (same) same.starts.push(index);
    else runs.set(run.length, { starts: [index], next: 0 });
  }
  return (from, length) => {
    const same = runs.get(length);
    if (!same) return null;
    while ((same.starts[same.next] ?? Infinity) < from) same.next += 1;
    const start = same.starts[same.next];
    return start === undefined ? null : start + length;
  };
}
