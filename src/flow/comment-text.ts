import MarkdownIt from "markdown-it";
import { type Token, ownProseOf } from "./markdown-prose.ts";

/** Invisible; after an `@` it keeps GitHub from reading a mention. */
const JOINER = "\u200D";

/** An `@` that may begin a mention, or its HTML entity, whose semicolon may be missing. */
const AT = /(?:@|&#0*64(?:;|(?!\d))|&#x0*40(?:;|(?![\da-f]))|&commat;)(?=[A-Za-z0-9&])/gi;
/** How many characters before an `@` are checked. */
const LOOK_BACK = 500;

/**
 * After a letter or digit an `@` is part of an e-mail address, unless that is the end of an entity
 * (https://github.com/gjtorikian/html-pipeline, `MentionFilter`). An underscore may be emphasis.
 */
const WORD = /[A-Za-z0-9]$/;
const ENTITY = /&[#A-Za-z0-9]+$/;

/** The start of an address that GitHub certainly links. Links contain no mentions. */
const ADDRESS = /\shttps?:\/\/[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+(?::\d+)?\/[\w./%?=+,;:#-]*$/i;

/** Deeper nesting would take quadratic time. */
const parser = new MarkdownIt("commonmark", { maxNesting: 100 }).disable(["entity", "emphasis"]);

/** Replaces an `@` while the text is parsed: its offset between two noncharacters. */
const MARK = /\uFFFF(\d+)\uFFFF/g;

/** HTML, footnotes, tables, formulas: GitHub lets them begin or end in a CommonMark code span. */
const EXTENSIONS = [/^[ \t]*(?:<|\[(?:\^|.*\]:))/m, /^[ \t|:]*-[ \t|:-]*$/m, /\$[^$`]*`[^$]*\$/];
/** HTML, which differs between versions of CommonMark, or a link too deep for the parser. */
const DOUBTFUL_PROSE = /<[a-z/!?]|\]\(/i;
/** For the parser the next line of a quote, for GitHub code or text. */
const DEEP_QUOTE = /(?: {4}|\t) *>/;
/** GitHub links an address up to the next space, including backticks. */
const ADDRESS_MARK = /\/\/|www\./i;

/**
 * A Markdown text in which GitHub finds no mentions. Code stays unchanged, unless GitHub may parse
 * the text differently from CommonMark: then none of it counts as code. Takes linear time.
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

/** Escapes a name for Markdown: no markup, mention or reference. */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
    .replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replaceAll(/[@#](?=\w)/g, `$&${JOINER}`);
}

const isPartOfWord = (before: string): boolean => WORD.test(before) && !ENTITY.test(before);

/** The offset of each `@` in fences and code spans; null when GitHub may find other ones. */
function placesInCode(markdown: string): ReadonlySet<number> | null {
  const env = { references: {} };
  const marked = markdown
    .replaceAll("\uFFFF", "\uFFFD")
    .replaceAll(AT, (_at: string, place: number) => `\uFFFF${place}\uFFFF`);
  const blocks = parser.parse(marked, env);
  const hasQuote = blocks.some(({ tag }) => tag === "blockquote");
  if (hasQuote && DEEP_QUOTE.test(marked)) return null;
  // After a link reference definition, GitHub reads some lines differently.
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

/** With a backtick in place of each code span. */
function proseIn(part: Token): string {
  if (isCode(part)) return "`";
  return part.tag === "br" ? "\n" : part.content;
}

/** A question mark at the end of a word, as opposed to one in an address. */
const QUESTION = /[?？؟](?=[\s"'”’»*_~)\]!.?？؟]|$)/;

/** Whether a comment asks a question, outside code and quotes. Takes linear time. */
export const isQuestion = (markdown: string): boolean =>
  ownProseOf(markdown).some(({ shown }) => QUESTION.test(shown));

/** In characters; a longer reason is cut. */
const MAX_REASON = 500;
const COMMAND = /^[ \t]*\/give-up(?=[ \t]|$)/i;

/**
 * The reason in a line `/give-up <reason>` outside code and quotes. Empty without a reason, null
 * without the command. Takes linear time.
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

/** GitHub logins of the bots of coding agents that need no registration, in lower case. */
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

/** Only a bot: on a GitHub Enterprise Server, a person can have the login `copilot`. */
export const isKnownAgent = ({
  login,
  isBot,
}: {
  readonly login: string;
  readonly isBot: boolean;
}): boolean => isBot && KNOWN_AGENTS.has(login.toLowerCase());
