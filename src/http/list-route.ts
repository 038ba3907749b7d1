import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { Deps } from "../actions/deps.ts";
import { invalid } from "../errors.ts";
import type { Role } from "../flow/roles.ts";
import { JsonText } from "../store/db/json-text.ts";
import {
  PAGE_BYTES,
  PAGE_ITEMS,
  type Identified,
  type ListSlice,
  type ListWindow,
} from "../store/db/list-window.ts";
import {
  credentialRoute,
  readRoute,
  type CredentialCall,
  type Exchange,
  type MaybeObject,
  type Output,
  type ReadCall,
  type Route,
  type RouteDefinition,
} from "./route.ts";

/** The largest value of `limit`. A page without `limit` may be larger. */
const MAX_LIMIT = 200;
/** Characters of JSON that are rendered without a pause, in about 0.2 ms. */
const RENDER_AT_ONCE = 64 * 1024;
const limitRange = `must be a number from 1 to ${MAX_LIMIT}`;

/** The query parameters of every list. */
export const listQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, limitRange)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, limitRange)
    .optional()
    .meta({
      description: `The number of items to return; by default ${PAGE_ITEMS}. A page of 256 KiB has fewer`,
      override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
        Object.assign(jsonSchema, { type: "integer", minimum: 1, maximum: MAX_LIMIT });
        delete jsonSchema["pattern"];
      },
    }),
  cursor: z
    .string()
    .optional()
    .meta({ description: "The start of the next page, from the `Link` header of the previous response" }),
});
type ListQuery = z.output<typeof listQuery>;

export const listHeaders = z.object({
  Link: z.string().optional().meta({
    description:
      'The next page, as `<address>; rel="next"`, relative to the service; absent on the last page',
    example: '</v1/docs?limit=50&cursor=WyIvdjEv>; rel="next"',
  }),
});

interface ListDefinition extends Pick<RouteDefinition, "path" | "summary" | "description" | "tag"> {
  /** The description and schema of the response, an array. */
  readonly list: { readonly description: string; readonly schema: z.ZodArray };
}

interface BoardListDefinition extends ListDefinition {
  /** By default viewer. */
  readonly role?: Role;
}

/** An item's id and its index. If the item was deleted, the list continues from the index. */
type Place = readonly [id: string, index: number];
const place: z.ZodType<Place> = z.tuple([z.string(), z.int().min(0)]).readonly();

/** A list of a board that is short enough to be read as a whole and then cut to one page. */
export function listRoute<Params extends MaybeObject = undefined, Query extends MaybeObject = undefined>(
  route: BoardListDefinition & {
    readonly params?: Params;
    readonly query?: Query;
    readonly handle: (
      deps: Deps,
      call: ReadCall<Output<Params>, Output<Query>>,
    ) => Promise<readonly Identified[]>;
  },
): Route {
  const { handle } = route;
  return keyedListRoute<Place, Params, Query>({
    ...route,
    key: place,
    handle: async (deps, call, window) => cut(await handle(deps, call), window),
  });
}

/** A list of a board that may be long: the store reads only the requested page. */
export function keyedListRoute<
  Key,
  Params extends MaybeObject = undefined,
  Query extends MaybeObject = undefined,
>(
  route: BoardListDefinition & {
    readonly params?: Params;
    readonly query?: Query;
    /** The content of a cursor: the sort key of an item. */
    readonly key: z.ZodType<Key>;
    readonly handle: (
      deps: Deps,
      call: ReadCall<Output<Params>, Output<Query>>,
      window: ListWindow<Key>,
    ) => Promise<ListSlice<unknown, Key>>;
  },
): Route {
  const { handle, key, list, query, params, ...rest } = route;
  return readRoute({
    ...rest,
    ...(params && { params }),
    query: query ? query.extend(listQuery.shape) : listQuery,
    responses: { 200: { ...list, headers: listHeaders } },
    handle: async (deps, call, exchange) => {
      const window = windowOf(exchange, call.query, key);
      const own = call as ReadCall<unknown, unknown> as ReadCall<Output<Params>, Output<Query>>;
      return renderPart(exchange, await handle(deps, own, window));
    },
  });
}

/** A list that belongs to the credential, not to a board. */
export function credentialListRoute(
  route: ListDefinition & {
    readonly handle: (deps: Deps, call: CredentialCall) => Promise<readonly Identified[]>;
  },
): Route {
  const { handle, list, ...rest } = route;
  return credentialRoute({
    ...rest,
    query: listQuery,
    responses: { 200: { ...list, headers: listHeaders } },
    handle: async (deps, call, exchange) => {
      const window = windowOf(exchange, call.query, place);
      return renderPart(exchange, cut(await handle(deps, call), window));
    },
  });
}

function cut<Item extends Identified>(
  items: readonly Item[],
  { after, limit }: ListWindow<Place>,
): ListSlice<Item, Place> {
  const from = after === null ? 0 : indexAfter(items, after);
  const to = Math.min(from + fitting(items.slice(from, from + limit)), items.length);
  const last = items[to - 1];
  return { items: items.slice(from, to), next: last && to < items.length ? [last.id, to - 1] : null };
}

/** How many of the items are on one page: the last one may exceed the bytes. */
function fitting(items: readonly Identified[]): number {
  let bytes = 0;
  const at = items.findIndex((item) => (bytes += Buffer.byteLength(JSON.stringify(item))) >= PAGE_BYTES);
  return at < 0 ? items.length : at + 1;
}

function indexAfter(items: readonly Identified[], [id, index]: Place): number {
  const at = items.findIndex((item) => item.id === id);
  return at < 0 ? index : at + 1;
}

/** Renders the items of a page. */
async function renderPart<Key>(exchange: Exchange, part: ListSlice<unknown, Key>): Promise<JsonText> {
  if (part.next !== null) linkNext(exchange, part.next);
  const texts: string[] = [];
  let length = 0;
  for (const item of part.items) {
    const text = JSON.stringify(item);
    texts.push(text);
    length += text.length;
    if (length < RENDER_AT_ONCE) continue;
    // Other calls run in between.
    await setImmediate();
    length = 0;
  }
  return new JsonText(`[${texts.join(",")}]`);
}

/** Sets the `Link` header: another page follows after the item with this key. */
export function linkNext(exchange: ListExchange, key: unknown): void {
  const next = addressOf(exchange, cursorOf(exchange.path, key));
  exchange.setHeader("Link", `<${next}>; rel="next"`);
}

type ListExchange = Pick<Exchange, "path" | "query" | "setHeader">;

/** A cursor contains the path, so that it is valid for its list only. */
const cursorOf = (path: string, key: unknown): string =>
  Buffer.from(JSON.stringify([path, key])).toString("base64url");

export function windowOf<Key>(
  { path }: Pick<Exchange, "path">,
  query: ListQuery,
  key: z.ZodType<Key>,
): ListWindow<Key> {
  const { cursor } = query;
  const limit = query.limit ?? PAGE_ITEMS;
  if (cursor === undefined) return { after: null, limit };
  const content = z.tuple([z.string(), key]).safeParse(decodeCursor(cursor));
  if (content.success && cursorOf(path, content.data[1]) === cursor) return { after: content.data[1], limit };
  const message = "is not a cursor of this list; take it from the Link header of a response, or omit it";
  throw invalid(`query.cursor: ${message}`, [{ path: "query.cursor", message }]);
}

function decodeCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
}

/**
 * The address of the request with this cursor, relative to the service: a caller could choose the
 * Host header, and clients send their API key to the address.
 */
function addressOf({ path, query }: Pick<Exchange, "path" | "query">, cursor: string): string {
  const search = new URLSearchParams(query as Record<string, string>);
  search.set("cursor", cursor);
  return `${path}?${search.toString()}`;
}
