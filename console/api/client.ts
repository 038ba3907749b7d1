import { NoResponse, readProblem } from "./problem.ts";
import type { Operations } from "./schema.d.ts";

export type Route = keyof Operations;
export type ReadRoute = Extract<Route, `GET ${string}`>;
export type WriteRoute = Exclude<Route, ReadRoute>;

type Given<Name extends string, Value> = undefined extends Value
  ? { readonly [name in Name]?: undefined }
  : Record<string, never> extends Value
    ? { readonly [name in Name]?: Value }
    : { readonly [name in Name]: Value };

/** Parameters and body of a route: `{ path: { number: 7 }, query: …, body: … }`. */
export type Input<R extends Route> = Given<"path", Operations[R]["path"]> &
  Given<"query", Operations[R]["query"]> &
  Given<"body", Operations[R]["body"]> & {
    /** The ETag of the read that a write is based on: a 412 says that it is not current any more. */
    readonly ifMatch?: string | undefined;
  };
export type ResponseOf<R extends Route> = Operations[R]["response"];

export interface Received<R extends Route> {
  readonly data: ResponseOf<R>;
  readonly status: number;
  /** `X-Feed-Seq`: the newest event that the response contains; null where the route has none. */
  readonly feedSeq: number | null;
  readonly etag: string | undefined;
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

export interface Client {
  readonly workspaceId: string;
  read<R extends ReadRoute>(route: R, input: Input<R>, signal?: AbortSignal): Promise<Received<R>>;
  /** Throws `ApiProblem` or `NoResponse`. */
  write<R extends WriteRoute>(route: R, input: Input<R>, idempotencyKey: string): Promise<Received<R>>;
  /** Calls a path that only the console has, such as `/console/v1/cards/7/approve`. */
  call(path: string, init: RequestInit): Promise<Response>;
}

interface LooseInput {
  readonly path?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
}

/** A typed client of `/console/v1` for one board. `onSignedOut` runs on each 401. */
export function createClient(workspaceId: string, onSignedOut: () => void): Client {
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { "X-Service-Workspace": workspaceId, ...(init.headers as Record<string, string>) };
    const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new NoResponse(error);
    });
    if (response.ok) return response;
    if (response.status === 401) onSignedOut();
    throw await readProblem(response);
  };
  const send = async <R extends Route>(
    route: R,
    input: LooseInput,
    init: RequestInit,
  ): Promise<Received<R>> => {
    const [method = "GET", path = ""] = route.split(" ");
    const hasBody = input.body !== undefined;
    const response = await call(addressOf(path, input), {
      ...init,
      method,
      headers: {
        ...(init.headers as Record<string, string>),
        ...(hasBody && { "Content-Type": "application/json" }),
        ...(input.ifMatch !== undefined && { "If-Match": input.ifMatch }),
      },
      ...(hasBody && { body: JSON.stringify(input.body) }),
    });
    const text = await response.text().catch((error: unknown) => {
      throw new NoResponse(error);
    });
    return {
      data: (text === "" ? undefined : JSON.parse(text)) as ResponseOf<R>,
      status: response.status,
      feedSeq: seqOf(response.headers),
      etag: response.headers.get("ETag") ?? undefined,
      next: nextCursor(response.headers),
    };
  };
  return {
    workspaceId,
    call,
    read: (route, input, signal) => send(route, input, signal ? { signal } : {}),
    write: (route, input, key) => send(route, input, { headers: { "Idempotency-Key": key } }),
  };
}

/** The address of a route under `/console`, with its parameters filled in. */
export function addressOf(path: string, { path: names = {}, query = {} }: LooseInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(names[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const prefix = path.startsWith("/console/") ? "" : "/console";
  return `${prefix}${filled}${search.size > 0 ? `?${search.toString()}` : ""}`;
}

function seqOf(headers: Headers): number | null {
  const seq = headers.get("X-Feed-Seq");
  return seq === null ? null : Number(seq);
}

/** The cursor of the next page; null on the last one. */
export function nextCursor(headers: Headers): string | null {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return address === undefined ? null : new URL(address, "http://service").searchParams.get("cursor");
}

/** All pages of a list. */
export async function readAll<R extends ReadRoute>(
  client: Client,
  route: R,
  input: Input<R>,
  signal?: AbortSignal,
): Promise<ResponseOf<R>> {
  const items: unknown[] = [];
  let cursor: string | null = null;
  do {
    const query: object = { ...(input as LooseInput).query, ...(cursor !== null && { cursor }) };
    const page: Received<R> = await client.read(route, { ...input, query } as Input<R>, signal);
    items.push(...(page.data as readonly unknown[]));
    cursor = page.next;
  } while (cursor !== null);
  return items as ResponseOf<R>;
}
