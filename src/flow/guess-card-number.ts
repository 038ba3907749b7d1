import { branchNameFor, isBranchName } from "./names.ts";

/** The largest card number there can be; one of more digits is none. */
const MAX_NUMBER = 2_147_483_647;

/**
 * The number of the card that a branch's name is made for, after the flow's pattern: `card/7-say-hello` names card 7 where the pattern is
 * `card/{number}-{slug}`. A slug may be anything without a slash, since people do not spell as we do. Null for a name the pattern does not make.
 *
 * Nothing is tried twice: each number the name contains is held against the pattern from left to right, and names are as short as branch names
 * are, so that no pattern and no name takes long.
 */
export function guessCardNumber(pattern: string, branchName: string): number | null {
  if (!isBranchName(branchName)) return null;
  // Without the `-2` that follows a name somebody else has.
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

/** Whether a name is these parts with a slug between each two. The first place where a part can be leaves most room for the others. */
function isJoinedBySlugs(parts: readonly string[], name: string): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0 || name.slice(at, found).includes("/")) return false;
    at = found + part.length;
  }
  const end = name.length - last.length;
  return at <= end && !name.slice(at, end).includes("/");
}
