import MarkdownIt from "markdown-it";

/** A paragraph or heading. */
export interface Prose {
  /** As it is written. */
  readonly text: string;
  /** The same lines; brackets, slashes and question marks that are code or escaped are blanks. */
  readonly shown: string;
}

/** Stands for the end of a line, which the parser would replace by a space in a code span. */
const LINE_END = "\uFFFE";

/** Reads blocks, code spans and escapes as CommonMark does; all other markup stays text. */
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
 * The prose of a Markdown text, without its code blocks. Takes time in proportion to the text; leaves
 * out what is nested more than 64 levels deep.
 */
export const proseOf = (markdown: string): Prose[] => read(markdown, true);

/** The same without what it quotes: what its author says. */
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
