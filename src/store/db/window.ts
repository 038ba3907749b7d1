/** The part of a list that is asked for. */
export interface Window<Key> {
  /** The key of the item it comes after; null from the start. */
  readonly after: Key | null;
  /** At most so many; null for all. */
  readonly limit: number | null;
}

/** A part of a list, and the key of its last item where more follow. */
export interface Part<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | null;
}

/** What to ask of SQL: one more than is wanted tells whether more follow. Null sets no limit. */
export const rowsToRead = ({ limit }: Window<unknown>): number | null => (limit === null ? null : limit + 1);

/** The part that these rows are, of which `rowsToRead` were read. */
export function partOf<Row, Key>(
  found: readonly Row[],
  { limit }: Window<Key>,
  keyOf: (row: Row) => Key,
): Part<Row, Key> {
  const items = limit === null ? found : found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && found.length > items.length ? keyOf(last) : null };
}
