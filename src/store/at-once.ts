import { countColumn, moveEndOn } from "./column-counts.ts";
import type { Db, Question } from "./connect.ts";
import type { Presumption } from "./presumption.ts";
import { rowsTogether, type Company } from "./together.ts";
import { isUndone } from "./violations.ts";

/** A request as its idempotency key knows it. */
export interface KeyedRequest {
  readonly presumed: Presumption;
  readonly key: string;
  readonly fingerprint: Buffer;
}

/** What became of a write that is one statement; null where it takes more than one, and then nothing was written. */
export type AtOnce =
  | { readonly state: "done" | "replay"; readonly status: number; readonly body: string }
  | { readonly state: "other_request" }
  | { readonly state: "running" }
  | null;

/**
 * A write in one statement, by a function of the database: it asks whether the credential is still what it was, looks the key up, does the work and keeps the answer, or none of it. `name` is the
 * function's, and `given` are the bindings that it takes after the request, in their order.
 *
 * Two requests with one key at the same moment: the second does not get the lock, or looks the key up when the first has ended.
 */
export const atOnce = (name: string, given: readonly string[]): string =>
  `${WRITTEN} from ${name}(row(${REQUEST})::keyed_request, ${bound(given)}) w`;

/** Several such writes in one statement, by a function that takes them side by side (`sideBySide`) and gives what became of each in their order. */
export const atOnceOfSeveral = (name: string, given: readonly string[]): string =>
  `${WRITTEN} from ${name}(${REQUEST}, ${bound(given)}) with ordinality w order by w.ordinality`;

/** The bindings of several writes as those of one statement: of each name an array of theirs, and the first's where they have it in common. */
export const sideBySide = (
  writes: readonly Question["bindings"][],
  common: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(writes[0] ?? {}).map(([name, first]) => [
      name,
      common.includes(name) ? first : writes.map((write) => write[name]),
    ]),
  );

const WRITTEN =
  'select w.stamp, w.is_free as "isFree", w.is_answer as "isAnswer", w.fingerprint, w.status, w.body, w.done, w.stale, w.behind';
const REQUEST = ":clientId, :stamp, :credentialId, :key, :fingerprint";
const bound = (names: readonly string[]): string => names.map((name) => `:${name}`).join(", ");

interface Row {
  readonly stamp: string | null;
  readonly isFree: boolean;
  readonly done: string | null;
  /** A column that is to be counted again, and one whose end is to be moved on. */
  readonly stale: string | null;
  readonly behind: string | null;
  /** Null where the key is not known. */
  readonly isAnswer: boolean | null;
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly body: string | null;
}

/** Runs a statement made by `atOnce`, `status` being the one it was made with, in that company, or alone. Throws `Outdated` where the credential is another by now. */
export async function doAtOnce(
  db: Db,
  sql: string,
  status: number,
  { presumed, key, fingerprint }: KeyedRequest,
  company: Company | null,
  bindings: Readonly<Record<string, unknown>>,
): Promise<AtOnce> {
  const { id: credentialId, clientId, stamp } = presumed.credential;
  // What is spread comes last: properties that are added to what was spread are slow to set.
  const asked = { credentialId, clientId, stamp, key, fingerprint, ...bindings };
  const [row] = (await unlessUndone(rowsTogether<Row>(db, company, { sql, bindings: asked }))) ?? [];
  if (!row) return null;
  presumed.settle(row.stamp);
  if (row.stale !== null) await countColumn(db, row.stale);
  if (row.behind !== null) await moveEndOn(db, row.behind);
  if (row.done !== null) return { state: "done", status, body: row.done };
  // Held by a request that is not over yet, or takes more than one statement; or old enough to be used anew.
  if (row.isAnswer === false) return null;
  if (row.isAnswer === null) return row.isFree ? null : { state: "running" };
  if (!row.fingerprint.equals(fingerprint)) return { state: "other_request" };
  return row.body === null ? null : { state: "replay", status: row.status, body: row.body };
}

/** Null where somebody else's row stands in the way, or one that was relied on is gone. */
export async function unlessUndone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isUndone(error)) return null;
    throw error;
  }
}
