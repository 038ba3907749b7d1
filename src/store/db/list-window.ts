/** Which part of a list to read. */
export interface ListWindow<Key> {
  /** The key of the item before the part; null starts at the first item. */
  readonly after: Key | null;
  /** The maximum number of items; null is unlimited. */
  readonly limit: number | null;
}

/** A part of a list. `next` is the key of its last item, or null if no items follow. */
export interface ListSlice<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | null;
}

/** The LIMIT of the query: one row more than wanted shows whether items follow. */
export const rowLimit = ({ limit }: ListWindow<unknown>): number | null =>
  limit === null ? null : limit + 1;

/** Builds the part from rows that were read with the limit `rowLimit`. */
export function listSliceOf<Row, Key>(
  found: readonly Row[],
  { limit }: ListWindow<Key>,
  keyOf: (row: Row) => Key,
): ListSlice<Row, Key> {
  const items = limit === null ? found : found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && found.length > items.length ? keyOf(last) : null };
}
