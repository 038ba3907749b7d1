import { notFound } from "../errors.ts";

/** Throws `not_found` where a request names cards the board does not have; a deleted card is one of those. */
export function requireKnown(numbers: readonly number[], isKnown: (number: number) => boolean): void {
  const unknown = numbers.filter((number) => !isKnown(number));
  if (unknown.length === 0) return;
  const named = unknown.slice(0, 10).join(", ") + (unknown.length > 10 ? ", …" : "");
  throw notFound(
    unknown.length === 1
      ? `There is no card ${named} on this board.`
      : `There are no cards ${named} on this board.`,
  );
}
