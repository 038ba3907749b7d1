import MarkdownIt from "markdown-it";
import type { Token } from "./markdown-prose.ts";

/**
 * An invisible character that is inserted inside a token (`#`, joiner, `14`), so that GitHub does
 * not recognize the token. In front of the token it would have no effect. Renovate inserts another
 * invisible character for the same purpose (`sanitizeMarkdown`). Words stay searchable. Not
 * verified on GitHub.com.
 */
export const JOINER = "\u200D";

/** An `@` that may begin a mention, as an entity too, whose semicolon may be missing. */
const AT = String.raw`(?:@|&#x0*40(?:;|(?![\da-f]))|&commat;)(?=[A-Za-z0-9&])`;
const AT_AS_DECIMAL = String.raw`&#0*64(?:;|(?!\d))(?=[A-Za-z0-9&])`;
/** `#14`, `acme/api#14`, but not the color `#14a0ff`. */
const NUMBER = String.raw`(?=\d+(?![A-Za-z0-9])|&#)`;
const NAMED_HASH = String.raw`(?:&#x0*23(?:;|(?![\da-f]))|&num;)${NUMBER}`;
const HASH_AS_DECIMAL = String.raw`&#0*35(?:;|(?!\d))${NUMBER}`;
/** In Markdown, the number sign of an entity such as `&#64;` starts no reference. */
const HASH = String.raw`(?<!&(?=#\d{1,7};))#${NUMBER}`;
const GH = String.raw`(?<![A-Za-z0-9])gh\\?-(?=\d)`;
/** A line that begins with a command to a bot, such as `/approve`. */
const COMMAND = String.raw`(?<=^[ \t>]{0,9})\/(?=[a-z][\w-]*(?:[ \t\r]|$))`;
const OTHERS = [
  // A closing keyword before a URL: the URL stays a link. A keyword before `#14` is not matched,
  // because the number itself becomes inert.
  String.raw`\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+\S{0,300}?\/(?:issues|pull|discussions)\/\d)`,
  String.raw`\[(?=\s{0,4}(?:skip[ _-][a-z]{1,20}|[a-z]{1,20}[ _-]skip|no[ _-]ci)\s{0,4}\])`,
  String.raw`(?<![\w-])(?:skip|request)-checks(?=\s*:)`,
].join("|");

/** The groups: mention, reference, command. A joiner at the end of a match makes a token inert. */
const tokens = (at: readonly string[], link: readonly string[]) =>
  new RegExp(`(${at.join("|")})|(${[...link, GH].join("|")})|(${COMMAND})|${OTHERS}`, "gim");
const PLAIN_TOKENS = tokens([AT], [NAMED_HASH, `#${NUMBER}`]);
const MARKDOWN_TOKENS = tokens([AT, AT_AS_DECIMAL], [NAMED_HASH, HASH_AS_DECIMAL, HASH]);

/** The signed mark of a mirrored comment: its signature may contain `GH-1` and must not change. */
const FIRST_MARK = /^<!-- trunkline:comment [0-9a-f-]{36} [\w-]{43} -->/;

/** How many characters before a token are checked. */
const LOOK_BACK = 500;

/**
 * After a letter or digit an `@` is part of an e-mail address, unless that is the end of an entity
 * (https://github.com/gjtorikian/html-pipeline, `MentionFilter`). An underscore may be emphasis.
 */
const WORD = /[A-Za-z0-9]$/;
const ENTITY = /&[#A-Za-z0-9]+$/;

/** The start of an address that GitHub certainly links. Links contain no mentions. */
const ADDRESS = /\shttps?:\/\/[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+(?::\d+)?\/[\w./%?=+,;:#-]*$/i;

/** Longer texts are not parsed, in characters: it would take longer than 50 milliseconds. */
const MAX_PARSED = 8_000;

/** Deeper nesting would take quadratic time. */
const parser = new MarkdownIt("commonmark", { maxNesting: 100 }).disable(["entity", "emphasis"]);

/** Follows a token while the text is parsed: its offset between two noncharacters. */
const MARK = /\uFFFF(\d+)\uFFFF/g;

/** HTML, footnotes, tables, formulas: GitHub lets them begin or end in a CommonMark code span. */
const EXTENSIONS = [/^[ \t]*(?:<|\[(?:\^|.*\]:))/m, /^[ \t|:]*-[ \t|:-]*$/m, /\$[^$`]*`[^$]*\$/];
/** HTML, which differs between versions of CommonMark, or a link too deep for the parser. */
const DOUBTFUL_PROSE = /<[a-z/!?]|\]\(/i;
/** markdown-it reads this as the next line of a quote, GitHub as code or text. */
const DEEP_QUOTE = /(?: {4}|\t) *>/;
/** GitHub links an address up to the next space, including backticks. */
const ADDRESS_MARK = /\/\/|www\./i;

export interface InertTextOptions {
  /**
   * Code and entities stay unchanged, as in comments and release notes. Not for the body of a pull
   * request: a squash merge may copy it into the commit message, where nothing is code.
   */
  readonly isMarkdown?: boolean;
  /** Tokens that Trunkline itself writes, such as `#14`. */
  readonly keeps?: readonly string[];
}

/**
 * A text without effects on GitHub: no mentions, references, closing keywords, tokens that skip CI,
 * or commands to bots. Only adds joiners. If GitHub may parse the Markdown differently from
 * CommonMark, or if the text is long, none of it counts as code. Takes linear time.
 */
export function inertText(text: string, { isMarkdown = false, keeps = [] }: InertTextOptions = {}): string {
  const [mark = ""] = (isMarkdown && FIRST_MARK.exec(text)) || [];
  const rest = text.slice(mark.length);
  const pattern = isMarkdown ? MARKDOWN_TOKENS : PLAIN_TOKENS;
  const code = isMarkdown ? placesInCode(rest) : new Set<number>();
  const padded = `\n${rest}`;
  const isInert = ([, mention, reference, command]: readonly Group[], offset: number): boolean => {
    if (keeps.some((token) => isTokenAt(rest, offset, token))) return true;
    if (command === undefined && code?.has(offset)) return true;
    if (mention === undefined && reference === undefined) return false;
    const before = padded.slice(Math.max(0, offset + 1 - LOOK_BACK), offset + 1);
    if (mention !== undefined && isPartOfWord(before)) return true;
    return code !== null && ADDRESS.test(before);
  };
  const inert = rest.replaceAll(pattern, (...[found, mention, reference, command, offset]: Match) =>
    isInert([found, mention, reference, command], offset) ? found : found + JOINER,
  );
  return mark + inert;
}

type Group = string | undefined;
type Match = [found: string, mention: Group, reference: Group, command: Group, offset: number];

const isPartOfWord = (before: string): boolean => WORD.test(before) && !ENTITY.test(before);

const isTokenAt = (text: string, offset: number, token: string): boolean =>
  text.startsWith(token, offset) && !/\w/.test(text.charAt(offset - 1) + text.charAt(offset + token.length));

/** The offset of each token in fences and code spans; null when GitHub may find other ones. */
function placesInCode(markdown: string): ReadonlySet<number> | null {
  if (markdown.length > MAX_PARSED) return null;
  const env = { references: {} };
  const marked = markdown
    .replaceAll("\uFFFF", "\uFFFD")
    .replaceAll(MARKDOWN_TOKENS, (...[found, , , , offset]: Match) => `${found}\uFFFF${offset}\uFFFF`);
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
