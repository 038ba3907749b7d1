import { JOINER } from "./inert-text.ts";
import { ownProseOf } from "./markdown-prose.ts";
import { firstCharacters } from "./text.ts";

/** Escapes a name for Markdown: no markup, mention or reference. */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
    .replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
    .replaceAll(/[@#](?=\w)/g, `$&${JOINER}`);
}

/** A question mark at the end of a word, as opposed to one in an address. */
const QUESTION = /[?？؟](?=[\s"'”’»*_~)\]!.?？؟]|$)/;

/** GitHub allows longer comments. The start of one is read, in characters, so that no step takes long. */
const MAX_READ = 16_000;

/** Whether the start of a comment asks a question, outside code and quotes. Takes linear time. */
export const isQuestion = (markdown: string): boolean =>
  ownProseOf(firstCharacters(markdown, MAX_READ)).some(({ shown }) => QUESTION.test(shown));

/** In characters; a longer reason is cut. */
const MAX_REASON = 500;
const COMMAND = /^[ \t]*\/give-up(?=[ \t]|$)/i;

/**
 * The reason in a line `/give-up <reason>` at the start of a comment, outside code and quotes. Empty without a reason, null
 * without the command. Takes linear time.
 */
export function giveUpReason(markdown: string): string | null {
  const read = firstCharacters(markdown, MAX_READ);
  if (!/\/give-up/i.test(read)) return null;
  for (const { text, shown } of ownProseOf(read)) {
    const at = shown.split("\n").findIndex((line) => COMMAND.test(line));
    if (at < 0) continue;
    const line = text.split("\n")[at] ?? "";
    return firstCharacters(line.replace(COMMAND, "").trim(), MAX_REASON);
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
