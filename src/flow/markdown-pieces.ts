/** In characters. The parser takes up to 3 microseconds for each. */
const MAX_PIECE = 8_000;

/** In characters; longer wiki links may be cut. */
const MAX_LINK = 500;

const FENCE = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/;
const ONLY_FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

/**
 * Cuts a Markdown text at line starts into pieces that can be parsed one by one, so that no step takes
 * long. Prefers the start of a paragraph, where nothing else is open. A code block that is cut goes on in
 * the next piece; a longer paragraph, quote or list item may be read as two.
 */
export function piecesOf(markdown: string): string[] {
  if (markdown.length <= MAX_PIECE) return [markdown];
  const pieces: string[] = [];
  /** The fence of the code block in which a line is; empty outside. */
  let fence = "";
  let prefix = "";
  let [start, paragraph] = [0, 0];
  let wasBlank = false;
  const cutAt = (end: number, opened: string): void => {
    pieces.push(prefix + markdown.slice(start, end));
    prefix = opened === "" ? "" : `${opened}\n`;
    start = end;
  };
  for (let at = 0; at < markdown.length;) {
    const next = endOfLine(markdown, at);
    const line = markdown.slice(at, next).trimEnd();
    if (fence === "" && wasBlank && /^\S/.test(line)) paragraph = at;
    if (next - start > MAX_PIECE && paragraph > start) cutAt(paragraph, "");
    if (next - start > MAX_PIECE && at > start) cutAt(at, fence);
    for (let rest = next - start; rest > MAX_PIECE; rest = next - start)
      cutAt(inLongLine(markdown, start), fence);
    fence = fenceAfter(line, fence);
    wasBlank = line === "";
    at = next;
  }
  cutAt(markdown.length, "");
  return pieces;
}

/** Where to cut a line that is too long: before the last wiki link or word, if there is one. */
function inLongLine(markdown: string, start: number): number {
  const piece = markdown.slice(start, start + MAX_PIECE);
  const link = piece.lastIndexOf("[[");
  const isOpen = link > 0 && piece.indexOf("]]", link) < 0 && MAX_PIECE - link < MAX_LINK;
  const end = isOpen ? link : piece.lastIndexOf(" ") + 1;
  return start + (end > MAX_PIECE / 2 ? end : MAX_PIECE);
}

function endOfLine(markdown: string, at: number): number {
  const end = markdown.indexOf("\n", at);
  return end < 0 ? markdown.length : end + 1;
}

/** The open fence after a line. */
function fenceAfter(line: string, fence: string): string {
  if (fence === "") {
    const [, backticks = "", tildes = backticks] = FENCE.exec(line) ?? [];
    return tildes;
  }
  const [, closing = ""] = ONLY_FENCE.exec(line) ?? [];
  return closing.startsWith(fence) ? "" : fence;
}
