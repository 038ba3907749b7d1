import { ownProseOf } from "./markdown-prose.ts";

/** A question mark at the end of words: not one in an address. */
const QUESTION = /[?？؟](?=[\s"'”’»*_~)\]!.?？؟]|$)/;

/** Whether a comment asks something, in its author's own words and outside code. Takes time in proportion to the text. */
export const isQuestion = (markdown: string): boolean =>
  ownProseOf(markdown).some(({ shown }) => QUESTION.test(shown));
