/** Behind an `@` it keeps the forge from seeing a name there, and nobody sees it. */
const JOINER = "\u200D";

/** An `@` that may begin a name, written as such or as HTML's entity for it, whose semicolon may be missing. */
const AT = /(?:@|&#0*64(?:;|(?!\d))|&#x0*40(?:;|(?![\da-f]))|&commat;)(?=[A-Za-z0-9&])/gi;
/** How much of what precedes an `@` is looked at. */
const LOOK_BACK = 500;

/**
 * Behind a letter or digit it belongs to an e-mail address (https://github.com/gjtorikian/html-pipeline, `MentionFilter`), unless that is
 * the end of an entity. An underscore may be the mark of emphasis.
 */
const WORD = /[A-Za-z0-9]$/;
const ENTITY = /&[#A-Za-z0-9]+$/;

/** The beginning of an address that surely becomes a link: no names are looked for in those. */
const ADDRESS = /\shttps?:\/\/[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+(?::\d+)?\/[\w./%?=+,;:#-]*$/i;

const FENCE = /^(?:(?<ticks>`{3,})[^`]*|(?<tildes>~{3,})[^`~]*)$/;
const FENCE_ANYWHERE = /`{3}|~{3}/;
const HTML = /<[A-Za-z/!?]/;

/** A stretch of text as it is read: code is shown as written. */
interface Part {
  readonly text: string;
  readonly isCode: boolean;
}

/**
 * A Markdown text that mentions nobody: no person, no team, no name that stands for everybody. Code stays as it is, but only where it
 * is code beyond doubt; where HTML, indented fences or unpaired backticks leave any, all of the text is taken for prose. Takes time in
 * proportion to the text.
 */
export function withoutMentions(markdown: string): string {
  const parts = partsOf(markdown);
  const code = parts && codeIn(parts);
  const padded = `\n${markdown}`;
  return markdown.replaceAll(AT, (at: string, offset: number) => {
    const before = padded.slice(Math.max(0, offset + 1 - LOOK_BACK), offset + 1);
    const isHarmless = isPartOfWord(before) || (code !== null && (code.has(offset) || ADDRESS.test(before)));
    return isHarmless ? at : at + JOINER;
  });
}

/** A name as plain text in Markdown: no markup, no mention, no reference. */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
    .replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replaceAll(/[@#](?=\w)/g, `$&${JOINER}`);
}

function isPartOfWord(before: string): boolean {
  return WORD.test(before) && !ENTITY.test(before);
}

/** The places of all `@` in code. */
function codeIn(parts: readonly Part[]): ReadonlySet<number> {
  const places = new Set<number>();
  let start = 0;
  for (const { text, isCode } of parts) {
    if (isCode) for (const { index } of text.matchAll(AT)) places.add(start + index);
    start += text.length;
  }
  return places;
}

/** Prose and code in turn; null where it cannot be told for sure which is which. */
function partsOf(markdown: string): Part[] | null {
  const parts: Part[] = [];
  let fence: string | null = null;
  for (const line of linesOf(markdown)) {
    const text = withoutEnd(line);
    if (fence !== null) {
      parts.push({ text: line, isCode: true });
      if (closes(fence, text)) fence = null;
      continue;
    }
    fence = fenceOf(text);
    // A fence inside a quote or list item ends with it, which would have to be followed.
    if (fence === null && FENCE_ANYWHERE.test(line)) return null;
    const read = fence === null ? readLine(line) : [{ text: line, isCode: true }];
    if (read === null) return null;
    parts.push(...read);
  }
  return parts;
}

/** The lines with what ends them. */
const linesOf = (markdown: string): string[] => markdown.match(/[^\r\n]*(?:\r\n|\n|\r|$)/g) ?? [];

/** Other spaces than these two do not end a fence's line. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && " \t\r\n".includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}

function fenceOf(line: string): string | null {
  const opened = FENCE.exec(line)?.groups;
  return opened?.["ticks"] ?? opened?.["tildes"] ?? null;
}

function closes(fence: string, line: string): boolean {
  const marks = line.replace(/^ {1,3}/, "");
  return marks.length >= fence.length && marks === fence.charAt(0).repeat(marks.length);
}

/** A line with all its backticks in pairs says by itself what in it is code; null for any other, or one with HTML in it. */
function readLine(line: string): Part[] | null {
  const parts: Part[] = [];
  let proseFrom = 0;
  for (let at = 0; at < line.length; at++) {
    if (line.charAt(at) === "\\") at += 1;
    else if (line.charAt(at) === "`") {
      const end = endOfCode(line, at);
      if (end === null) return null;
      parts.push(
        { text: line.slice(proseFrom, at), isCode: false },
        { text: line.slice(at, end), isCode: true },
      );
      proseFrom = end;
      at = end - 1;
    }
  }
  parts.push({ text: line.slice(proseFrom), isCode: false });
  if (parts.some(({ text, isCode }) => !isCode && HTML.test(text))) return null;
  // Between two dollars the forge may see a formula, and no code in it.
  if (parts.length > 1 && line.split("$").length > 2) return null;
  // In a table the bar divides cells, even between backticks.
  return line.includes("|") ? [{ text: line, isCode: false }] : parts;
}

/** Where the code that these backticks begin ends: behind the next run of just as many. */
function endOfCode(line: string, start: number): number | null {
  const length = runAt(line, start);
  for (let at = start + length; at < line.length; at++) {
    if (line.charAt(at) !== "`") continue;
    const run = runAt(line, at);
    if (run === length) return at + run;
    at += run - 1;
  }
  return null;
}

function runAt(line: string, start: number): number {
  let end = start;
  while (line.charAt(end) === "`") end += 1;
  return end - start;
}
