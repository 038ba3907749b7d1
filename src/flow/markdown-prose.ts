import MarkdownIt from "markdown-it";

/** A paragraph or heading. */
interface Prose {
  readonly text: string;
  /** `text` with blanks for brackets, slashes and question marks that are escaped or in code. */
  readonly shown: string;
}

/** Replaces line ends, which the parser would turn into spaces in a code span. */
const LINE_END = "\uFFFE";

/** Parses blocks, code spans and escapes as CommonMark does; other markup stays text. */
const parser = new MarkdownIt("commonmark", { html: false, maxNesting: 64 }).disable([
  "normalize",
  "reference",
  "link",
  "image",
  "autolink",
  "entity",
  "emphasis",
  "text_join",
]);
parser.core.ruler.before("inline", "line_ends", ({ tokens }) => {
  for (const token of tokens) token.content = token.content.replaceAll("\n", LINE_END);
});

export type Token = ReturnType<typeof parser.parse>[number];

/**
 * The prose of a Markdown text, without code blocks and without what is nested more than 64 levels
 * deep. Takes linear time.
 */
export const proseOf = (markdown: string): Prose[] => read(markdown, true);

/** Without quotes. */
export const ownProseOf = (markdown: string): Prose[] => read(markdown, false);

function read(markdown: string, keepsQuotes: boolean): Prose[] {
  const prose: Prose[] = [];
  const tokens = parser.parse(markdown.replaceAll(/\r\n?/g, "\n"), {});
  let quotes = 0;
  for (const [at, { tag, nesting, content, children }] of tokens.entries()) {
    if (tag === "blockquote") quotes += nesting;
    if (children === null || (quotes > 0 && !keepsQuotes)) continue;
    // A heading's text does not begin its line.
    const hash = tokens[at - 1]?.markup.startsWith("#") ? "# " : "";
    const shown = hash + children.map(shownAs).join("");
    prose.push({ text: withLineEnds(content), shown: withLineEnds(shown) });
  }
  return prose;
}

function shownAs({ type, content, markup }: Token): string {
  if (type === "text") return content;
  return (type === "code_inline" ? `\`${content}\`` : markup).replaceAll(/[[\]/?？؟]/g, " ");
}

const withLineEnds = (text: string): string => text.replaceAll(LINE_END, "\n");
