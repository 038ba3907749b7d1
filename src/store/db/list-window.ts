import { rows, type Db } from "./connect.ts";

/**
 * The largest page: so many items, and items until their texts have so many bytes in UTF-8. With
 * 1 MiB, other boards waited twice as long for a process that serves pages (bench/fairness.ts).
 */
export const PAGE_ITEMS = 1_000;
export const PAGE_BYTES = 256 * 1024;

/** An item of a list. The schema of its route describes the other fields. */
export interface Identified {
  readonly id: string;
}

/** The key of an item in a list that is sorted by time: its time (ISO 8601) and its id. */
export type TimePlace = readonly [at: string, id: string];

/** Which part of a list to read. */
export interface ListWindow<Key> {
  /** The key of the item before the part; null starts at the first item. */
  readonly after: Key | null;
  /** The maximum number of items. */
  readonly limit: number;
}

/** A part of a list. `next` is the key of its last item, or null if no items follow. */
export interface ListSlice<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | null;
}

interface ListQuery<Row, Key> {
  /** A query with an order, without a limit. */
  readonly sql: string;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** SQL for the bytes of a row's long texts. `octet_length` does not read them. */
  readonly bytes: string;
  readonly keyOf: (row: Row) => Key;
}

/**
 * Reads one page of a list. PostgreSQL counts the bytes, so that this process never has more than a
 * page in memory. A page has at least one row, and its last row may exceed the bytes.
 */
export async function readPage<Row extends object, Key>(
  db: Db,
  { limit }: ListWindow<Key>,
  { sql, bindings, bytes, keyOf }: ListQuery<Row, Key>,
): Promise<ListSlice<Row, Key>> {
  const found = await rows<
    Row & { readonly following: number; readonly nth: number; readonly before: number }
  >(
    db,
    `select * from (
       select listed.*, row_number() over () as nth, count(*) over () - row_number() over () as following,
              sum(${bytes}) over (rows unbounded preceding) - (${bytes}) as before
         from (${sql} limit :limit + 1) listed) page
      where nth <= :limit and before < ${PAGE_BYTES} order by nth`,
    { ...bindings, limit },
  );
  const last = found.at(-1);
  return {
    items: found.map(
      ({ following: _following, nth: _nth, before: _before, ...row }) => row as unknown as Row,
    ),
    next: last !== undefined && last.following > 0 ? keyOf(last) : null,
  };
}
