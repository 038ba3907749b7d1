/**
 * Markdown's blocks (CommonMark 0.31), as far as it takes to tell prose from code: quotes and list items, code fences, code by
 * indentation, headings, paragraphs with their lazy lines. HTML blocks are taken for prose.
 */

/** Deeper nesting than anybody writes; it bounds the work done for one line. */
const MAX_DEPTH = 32;

/** A quote, or a list item whose lines are indented by this many columns. */
type Container = "quote" | number;

interface Fence {
  readonly mark: string;
  readonly length: number;
}

const FENCE = /^(?:(?<ticks>`{3,})[^`]*|(?<tildes>~{3,}).*)$/s;
const HEADING = /^#{1,6}(?: |$)/;
const UNDERLINE = /^(?:=+|-+) *$/;
const RULE = /^(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const ITEM = /^(?<marker>[-+*]|(?<number>\d{1,9})[.)])(?<space> +|$)/;

/** A line being read: what is left of it begins at `at`. */
interface Line {
  readonly text: string;
  at: number;
}

/** What has been read so far, and what is still open. */
interface Reading {
  readonly prose: string[];
  readonly containers: Container[];
  paragraph: string[];
  fence: Fence | null;
  readonly keepsQuotes: boolean;
}

/** The paragraphs and headings of a Markdown text, without its code blocks. Takes time in proportion to the text. */
export const proseOf = (markdown: string): string[] => read(markdown, true);

/** The same without what it quotes: what its author says. */
export const ownProseOf = (markdown: string): string[] => read(markdown, false);

function read(markdown: string, keepsQuotes: boolean): string[] {
  const reading: Reading = { prose: [], containers: [], paragraph: [], fence: null, keepsQuotes };
  for (const text of markdown.split(/\r\n|\n|\r/)) readLine(reading, { text: withoutTabs(text), at: 0 });
  endParagraph(reading);
  return reading.prose;
}

function endParagraph(reading: Reading): void {
  if (reading.paragraph.length > 0) keep(reading, reading.paragraph.join("\n"));
  reading.paragraph = [];
}

function keep({ prose, containers, keepsQuotes }: Reading, text: string): void {
  if (keepsQuotes || !containers.includes("quote")) prose.push(text);
}

function readLine(reading: Reading, line: Line): void {
  const { containers } = reading;
  const kept = enterContainers(line, containers);
  if (kept < containers.length) {
    if (!reading.fence && reading.paragraph.length > 0 && isLazy(line)) {
      reading.paragraph.push(line.text.slice(line.at));
      return;
    }
    endParagraph(reading);
    reading.fence = null;
    containers.length = kept;
  }
  if (reading.fence) {
    if (closes(reading.fence, line)) reading.fence = null;
    return;
  }
  while (containers.length < MAX_DEPTH) {
    const container = openContainer(line, reading.paragraph.length > 0);
    if (container === null) break;
    endParagraph(reading);
    containers.push(container);
  }
  readLeaf(reading, line);
}

function readLeaf(reading: Reading, line: Line): void {
  const isInParagraph = reading.paragraph.length > 0;
  const indent = indentOf(line);
  const text = line.text.slice(line.at + indent);
  if (text !== "" && (indent < 4 ? isProse(text, isInParagraph) : isInParagraph)) {
    reading.paragraph.push(text);
    return;
  }
  endParagraph(reading);
  if (indent > 3) return;
  if (HEADING.test(text)) keep(reading, text);
  reading.fence = fenceOf(text);
}

/** Whether a line goes on with a paragraph or begins one. */
const isProse = (text: string, isInParagraph: boolean): boolean =>
  !(FENCE.test(text) || HEADING.test(text) || RULE.test(text) || (isInParagraph && UNDERLINE.test(text)));

function fenceOf(text: string): Fence | null {
  const opened = FENCE.exec(text)?.groups;
  const marks = opened?.["ticks"] ?? opened?.["tildes"];
  return marks === undefined ? null : { mark: marks.charAt(0), length: marks.length };
}

/** Tabs stand for the spaces up to the next column that is a multiple of four. */
function withoutTabs(text: string): string {
  if (!text.includes("\t")) return text;
  let added = 0;
  return text.replaceAll("\t", (_tab, index: number) => {
    const width = 4 - ((index + added) % 4);
    added += width - 1;
    return " ".repeat(width);
  });
}

function indentOf({ text, at }: Line): number {
  let end = at;
  while (text.charAt(end) === " ") end += 1;
  return end - at;
}

/** Goes into the open containers that the line continues, and gives how many. */
function enterContainers(line: Line, containers: readonly Container[]): number {
  let indent = indentOf(line);
  for (const [depth, container] of containers.entries()) {
    if (container === "quote") {
      if (indent > 3 || line.text.charAt(line.at + indent) !== ">") return depth;
      enterQuote(line, indent);
      indent = indentOf(line);
    } else if (line.at + indent < line.text.length) {
      if (indent < container) return depth;
      line.at += container;
      indent -= container;
    }
  }
  return containers.length;
}

function enterQuote(line: Line, indent: number): void {
  line.at += indent + 1;
  if (line.text.charAt(line.at) === " ") line.at += 1;
}

/** Opens the quote or list item that begins here, or gives null. */
function openContainer(line: Line, isInParagraph: boolean): Container | null {
  const indent = indentOf(line);
  if (indent > 3) return null;
  const start = line.at + indent;
  if (line.text.charAt(start) === ">") {
    enterQuote(line, indent);
    return "quote";
  }
  const item = itemAt(line.text.slice(start), isInParagraph);
  if (item === null) return null;
  line.at = Math.min(start + item, line.text.length);
  return indent + item;
}

/** How many columns a list item's marker and the space behind it take, or null where no item begins. */
function itemAt(text: string, isInParagraph: boolean): number | null {
  const item = ITEM.exec(text)?.groups;
  if (!item || RULE.test(text)) return null;
  const marker = item["marker"] ?? "";
  const space = item["space"] ?? "";
  const isEmpty = marker.length + space.length === text.length;
  // A paragraph goes on over what could only by chance be an item.
  if (isInParagraph && (isEmpty || (item["number"] ?? "1") !== "1")) return null;
  return marker.length + (isEmpty || space.length > 4 ? 1 : space.length);
}

/** Whether a line that left out the marks of the containers around it goes on with their paragraph all the same. */
function isLazy(line: Line): boolean {
  const indent = indentOf(line);
  const text = line.text.slice(line.at + indent);
  if (text === "") return false;
  return indent > 3 || (isProse(text, false) && !text.startsWith(">") && itemAt(text, false) === null);
}

function closes(fence: Fence, line: Line): boolean {
  const indent = indentOf(line);
  const text = line.text.slice(line.at + indent).trimEnd();
  return indent <= 3 && text.length >= fence.length && text === fence.mark.repeat(text.length);
}
