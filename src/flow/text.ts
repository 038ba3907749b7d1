/**
 * Shortens text between characters. JavaScript counts some characters, such as emoji, twice, and
 * would cut them into halves, which PostgreSQL and JSON refuse. Here they count once, as in JSON
 * Schema.
 */

/** Replaces what PostgreSQL and JSON cannot store: NUL, and halves of characters. */
export const storableText = (text: string): string => text.replaceAll(/[\0\p{Surrogate}]/gu, "\ufffd");

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800]/gu;

/** Without characters that are invisible or change how others are shown, except tabs and line feeds. */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE, (character) => (/[\t\n]/.test(character) ? character : ""));

/** Whether people see nothing of a text. */
export const isBlank = (text: string): boolean => visibleText(text).trim() === "";

/** At most the first `max` characters. */
export function firstCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  // A half at the end of the slice comes after `max` whole characters.
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join("");
}

/** At most `max` characters; the last one of a text that is cut is an ellipsis. */
export function shortenedText(text: string, max: number): string {
  return firstCharacters(text, max).length === text.length ? text : `${firstCharacters(text, max - 1)}…`;
}
