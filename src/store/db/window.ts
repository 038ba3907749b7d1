/** Which part of a list to read. */
export interface Window<Key> {
  /** The key of the item before the part; null starts at the first item. */
  readonly after: Key | null;
  /** The maximum number of items; null is unlimited. */
  readonly limit: number | null;
}

/** A part of a list. `next` is the key of its last item, or null if no items follow. */
export interface Part<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | null;
}

/** The LIMIT of the query: one row more than wanted shows whether items follow. */
export const rowsToRead = ({ limit }: Window<unknown>): number | null => (limit === null ? null : limit + 1);

/** Builds the part from rows that were read with the limit `rowsToRead`. */
export function partOf<Row, Key>(
  found: readonly Row[],
  { limit }: Window<Key>,
  keyOf: (row: Row) => Key,
): Part<Row, Key> {
  const items = limit === null ? found : found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && found.length > items.length ? keyOf(last) : null };
}
