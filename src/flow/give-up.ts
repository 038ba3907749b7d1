import { ownProseOf } from "./markdown-prose.ts";

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
