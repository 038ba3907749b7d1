/** Stands for what is blotted out; nobody writes it. */
const MASK = "\uFFFF";
const TOKEN = /\\[!-/:-@[-`{-~]|`+/g;

/** The same text with its code spans and escaped characters blotted out, character for character. Takes time in proportion to it. */
export function masked(prose: string): string {
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
