/**
 * Text that people and tools write on GitHub. Before anything parses or stores it, it is cut to
 * what GitHub allows, with an ellipsis at its end, and what cannot be stored is replaced.
 */
import { z } from "zod";
import { shortenedText, storableText } from "../../flow/text.ts";

/** GitHub allows as many characters. */
const MAX_TEXT = 65_536;
/** Fits into an index of PostgreSQL, and no valid branch name is as long. */
const MAX_NAME = 500;
/** Some patterns of `refusal-messages.ts` take quadratic time. */
const MAX_MESSAGE = 4_000;

const cut = (text: string, max: number): string => storableText(shortenedText(text, max));

/** Bodies, summaries and commit messages. */
export const text = z.string().transform((value) => cut(value, MAX_TEXT));

/** Titles, and the names of branches, checks and accounts. */
export const name = z.string().transform((value) => cut(value, MAX_NAME));

/** The message of an error. */
export const cutMessage = (message: string): string => cut(message, MAX_MESSAGE);
