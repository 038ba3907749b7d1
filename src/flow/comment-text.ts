import MarkdownIt from "markdown-it";
import { type Token, ownProseOf } from "./markdown-prose.ts";

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

/** The parser leaves out deeper nesting, which would take quadratic time. */
const parser = new MarkdownIt("commonmark", { maxNesting: 100 }).disable(["entity", "emphasis"]);

/** Stands for an `@` while the text is parsed: its place in the text, between two noncharacters. */
const MARK = /\uFFFF(\d+)\uFFFF/g;

/**
 * Tags, footnotes, tables and formulas. GitHub reads them in its own way, and each may begin or end
 * within what CommonMark takes for a code span.
 */
const EXTENSIONS = [/^[ \t]*(?:<|\[(?:\^|.*\]:))/m, /^[ \t|:]*-[ \t|:-]*$/m, /\$[^$`]*`[^$]*\$/];
/** HTML, which differs between versions of CommonMark, or a link nested too deep to be parsed. */
const DOUBTFUL_PROSE = /<[a-z/!?]|\]\(/i;
/** The parser takes it for a quote's next line, GitHub for code or text. */
const DEEP_QUOTE = /(?: {4}|\t) *>/;
/** GitHub links an address up to the next space, with the backticks in it. */
const ADDRESS_MARK = /\/\/|www\./i;

/**
 * A Markdown text that mentions nobody: no person, no team, no name that stands for everybody.
 * Fences and code spans stay as they are, unless the text holds something that GitHub may read in
 * another way than CommonMark: then none of it counts as code. Takes time in proportion to the text.
 */
export function withoutMentions(markdown: string): string {
  const code = placesInCode(markdown);
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

/** The place of each `@` in fences and code spans; null where GitHub may find other fences or spans. */
function placesInCode(markdown: string): ReadonlySet<number> | null {
  const env = { references: {} };
  const marked = markdown
    .replaceAll("\uFFFF", "\uFFFD")
    .replaceAll(AT, (_at: string, place: number) => `\uFFFF${place}\uFFFF`);
  const blocks = parser.parse(marked, env);
  const hasQuote = blocks.some(({ tag }) => tag === "blockquote");
  if (hasQuote && DEEP_QUOTE.test(marked)) return null;
  // The parser does not read all lines after a definition as GitHub does.
  if (blocks.some(isDoubtful) || Object.keys(env.references).length > 0) return null;
  const code = blocks.flatMap((block) => block.children ?? block).filter(isCode);
  const marks = code.flatMap(({ info, content }) => [...`${info}${content}`.matchAll(MARK)]);
  return new Set(marks.map(([, place]) => Number(place)));
}

const isCode = ({ type }: Token): boolean => type === "fence" || type === "code_inline";

function isDoubtful({ type, content, children }: Token): boolean {
  if (!children) return type === "html_block";
  const prose = children.map(proseIn).join("");
  return (
    EXTENSIONS.some((extension) => extension.test(content)) ||
    DOUBTFUL_PROSE.test(prose) ||
    prose.split(/\s/).some((word) => word.includes("`") && ADDRESS_MARK.test(word))
  );
}

/** A backtick stands for each code span. */
function proseIn(part: Token): string {
  if (isCode(part)) return "`";
  return part.tag === "br" ? "\n" : part.content;
}

/** A question mark at the end of words: not one in an address. */
const QUESTION = /[?？؟](?=[\s"'”’»*_~)\]!.?？؟]|$)/;

/** Whether a comment asks something, in its author's own words and outside code. Takes time in proportion to the text. */
export const isQuestion = (markdown: string): boolean =>
  ownProseOf(markdown).some(({ shown }) => QUESTION.test(shown));

/** As much of a reason as is told. */
const MAX_REASON = 500;
const COMMAND = /^[ \t]*\/give-up(?=[ \t]|$)/i;

/**
 * Why a comment gives up, where a line of it says `/give-up <reason>`: empty without a reason, null where it does not give up. In code and in
 * what it quotes nothing is said. Takes time in proportion to the text.
 */
export function giveUpReason(markdown: string): string | null {
  if (!/\/give-up/i.test(markdown)) return null;
  for (const { text, shown } of ownProseOf(markdown)) {
    const at = shown.split("\n").findIndex((line) => COMMAND.test(line));
    if (at < 0) continue;
    const line = text.split("\n")[at] ?? "";
    const reason = line.replace(COMMAND, "").trim();
    return Array.from(reason.slice(0, 2 * MAX_REASON))
      .slice(0, MAX_REASON)
      .join("");
  }
  return null;
}

/** Forge accounts of coding agents that are known without anybody registering them, by login in lower case. */
const KNOWN_AGENTS: ReadonlySet<string> = new Set([
  "copilot-swe-agent[bot]",
  "copilot",
  "claude[bot]",
  "openai-codex[bot]",
  "chatgpt-codex-connector[bot]",
  "devin-ai-integration[bot]",
  "cursor[bot]",
  "google-labs-jules[bot]",
  "sweep-ai[bot]",
]);

/** Whether a forge login is a known coding agent's. */
export const isKnownAgent = (login: string): boolean => KNOWN_AGENTS.has(login.toLowerCase());
