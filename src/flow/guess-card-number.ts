import { branchNameFor, isBranchName } from "./names.ts";

/** PostgreSQL's `integer`. */
const MAX_NUMBER = 2_147_483_647;

/**
 * The card number in a branch name: `card/7-say-hello` names card 7 if the flow's pattern is
 * `card/{number}-{slug}`. Null when the name does not match the pattern. The slug may be any text
 * without a slash, since people choose their own. Tries each number in the name once, so no pattern
 * or name takes long.
 */
export function guessCardNumber(pattern: string, branchName: string): number | null {
  if (!isBranchName(branchName)) return null;
  // Without the `-2` that is added when a name is taken.
  const shortened = branchName.replace(/-\d{1,2}$/, "");
  return namedBy(pattern, branchName) ?? (shortened === branchName ? null : namedBy(pattern, shortened));
}

function namedBy(pattern: string, name: string): number | null {
  const [before = "", after = ""] = pattern.split("{number}");
  const [digitsBefore = ""] = /\d*$/.exec(before) ?? [];
  const [digitsAfter = ""] = /^\d*/.exec(after) ?? [];
  for (const [run] of name.matchAll(/\d+/g)) {
    if (!run.startsWith(digitsBefore) || !run.endsWith(digitsAfter)) continue;
    const digits = run.slice(digitsBefore.length, run.length - digitsAfter.length);
    if (isCardNumber(digits) && isMadeFor(pattern, digits, name)) return Number(digits);
  }
  return null;
}

const isCardNumber = (digits: string): boolean =>
  /^[1-9]\d{0,9}$/.test(digits) && Number(digits) <= MAX_NUMBER;

const isMadeFor = (pattern: string, digits: string, name: string): boolean =>
  name === branchNameFor(pattern, Number(digits), "") ||
  isJoinedBySlugs(pattern.replaceAll("{number}", digits).split("{slug}"), name);

/** Whether a name consists of these parts with a slug between each two. */
function isJoinedBySlugs(parts: readonly string[], name: string): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    // The first match leaves the most room for the other parts.
    const found = name.indexOf(part, at);
    if (found < 0 || name.slice(at, found).includes("/")) return false;
    at = found + part.length;
  }
  const end = name.length - last.length;
  return at <= end && !name.slice(at, end).includes("/");
}
