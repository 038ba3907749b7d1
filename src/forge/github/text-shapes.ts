/**
 * Text that people and tools write on GitHub. Longer text than GitHub allows is cut before anything
 * parses or stores it; an ellipsis at its end shows that.
 */
import { z } from "zod";

/** GitHub allows 65,536 characters. JavaScript counts some of them, such as emoji, twice. */
const MAX_TEXT = 2 * 65_536;
/** Fits into an index of PostgreSQL, and no valid branch name is as long. */
const MAX_NAME = 500;
/** Some patterns of `refusal-messages.ts` take quadratic time. */
const MAX_MESSAGE = 4_000;

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  // Not between the two halves of a character.
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Bodies, summaries and commit messages. */
export const text = z.string().transform((value) => cut(value, MAX_TEXT));

/** Titles, and the names of branches, checks and accounts. */
export const name = z.string().transform((value) => cut(value, MAX_NAME));

/** The message of an error. */
export const cutMessage = (message: string): string => cut(message, MAX_MESSAGE);
