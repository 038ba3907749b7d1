import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkDocumented } from "./documented.ts";
import { checkAppendOnly } from "./stories/duplicate-events.ts";

export interface ApiResponse<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly text: string;
  readonly headers: Headers;
}

export interface CallOptions {
  /** The idempotency key: a new one by default, none with null. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API with one credential. A response that differs from the OpenAPI document fails the test. */
export interface Api {
  readonly apiKey: string;
  readonly baseUrl: string;
  get<Body = Record<string, unknown>>(path: string, options?: CallOptions): Promise<ApiResponse<Body>>;
  post<Body = Record<string, unknown>>(
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<ApiResponse<Body>>;
  patch<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiResponse<Body>>;
  put<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiResponse<Body>>;
  delete<Body = Record<string, unknown>>(path: string, options?: CallOptions): Promise<ApiResponse<Body>>;
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<ApiResponse<Body>>;
  /** Creates a card and returns it. */
  card(fields?: Readonly<Record<string, unknown>>): Promise<ApiCard>;
  move(
    number: number,
    statusId: string,
    index?: number,
    options?: CallOptions,
  ): Promise<ApiResponse<MoveResponse>>;
  readCard(number: number): Promise<ApiCard>;
  timeline(number: number): Promise<TimelineEvent[]>;
  /** Reads a card until the condition holds. */
  cardWhen(number: number, isWanted: (card: ApiCard) => boolean): Promise<ApiCard>;
  /** Reads a card's timeline until it has such an item. */
  eventWhen(number: number, isWanted: (event: TimelineEvent) => boolean): Promise<TimelineEvent>;
}

export interface ApiBlocked {
  readonly reason: string;
  readonly message: string;
  readonly repository: string;
  readonly reasons: readonly {
    readonly reason: string;
    readonly message: string;
    readonly details: Record<string, unknown>;
  }[];
  readonly statusId: string;
  readonly headSha: string | null;
}

export interface ApiCard {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly statusId: string;
  readonly position: number;
  readonly blocked: ApiBlocked | null;
  readonly repositories: readonly {
    readonly fullName: string;
    readonly branchName: string | null;
    readonly prNumber: number | null;
    readonly prState: string | null;
    readonly checksState: string | null;
  }[];
}

/** What a card shows of a repository before it has a branch there. */
export const withoutBranch = (fullName: string, forgeUrl = "https://github.com") => ({
  fullName,
  branchName: null,
  headSha: null,
  url: `${forgeUrl}/${fullName}`,
  cloneUrl: `${forgeUrl}/${fullName}.git`,
  prNumber: null,
  prUrl: null,
  prState: null,
  targetBranch: null,
  checksState: null,
  reviewState: null,
  hasConflicts: null,
  isBehind: null,
  isInMergeQueue: null,
});

export interface MoveResponse {
  readonly message?: string;
  readonly error?: string;
  readonly statusCode?: number;
  readonly blocked?: ApiBlocked;
  readonly task: { readonly number: number; readonly statusId: string; readonly blocked: ApiBlocked | null };
  readonly promoted: readonly {
    readonly fullName: string;
    readonly targetBranch: string;
    readonly prNumber: number;
  }[];
  readonly alreadyMerged?: readonly unknown[];
  readonly queued?: readonly unknown[];
}

export interface TimelineEvent {
  readonly type: "event" | "comment";
  readonly id: string;
  readonly kind: string;
  readonly actor: {
    readonly user: { readonly name: string; readonly kind: string };
    readonly login: string | null;
  };
  readonly repositoryFullName: string | null;
  readonly data: Record<string, unknown>;
  readonly at: string;
  /** Comments have an author instead of an actor. */
  readonly author: { readonly login: string | null };
}

/** A successful response to a write. */
export interface Success {
  readonly apiKey: string;
  readonly key: string;
  readonly path: string;
  readonly status: number;
  readonly text: string;
  readonly isReplay: boolean;
}

/** All of this test file, in order. */
export const successes: Success[] = [];

/** Ten times what a busy machine needs, and less than the timeout of a test. */
const TIMEOUT_MS = 200_000;
const WHOLE_TIMELINE = /^\/v1\/cards\/\d+\/timeline$/;

/** How calls reach the routes and say who makes them. */
interface Access {
  /** Precedes the paths. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

const byKey = (apiKey: string): Access => ({ prefix: "", headers: { authorization: `Bearer ${apiKey}` } });

export function makeApi(baseUrl: string, apiKey: string, access: Access = byKey(apiKey)): Api {
  const call = async <Body>(
    method: string,
    path: string,
    body: unknown,
    { key, headers }: CallOptions = {},
  ): Promise<ApiResponse<Body>> => {
    const sent: Record<string, string> = { ...access.headers, ...headers };
    if (method !== "GET" && key !== null) sent["idempotency-key"] = key ?? `test-${randomUUID()}`;
    if (body !== undefined && !("content-type" in sent)) sent["content-type"] = "application/json";
    const response = await fetch(`${baseUrl}${access.prefix}${path}`, {
      method,
      headers: sent,
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const contentType = response.headers.get("content-type") ?? "";
    const isJson = contentType.startsWith("application/json");
    const parsed: unknown = isJson ? JSON.parse(text) : contentType.includes("ndjson") ? text : undefined;
    checkDocumented(method, path, response.status, parsed);
    if (WHOLE_TIMELINE.test(path) && response.ok)
      checkAppendOnly(`${apiKey} ${path}`, parsed as TimelineEvent[]);
    const { status, ok } = response;
    const sentKey = sent["idempotency-key"];
    if (ok && sentKey !== undefined) {
      const isReplay = response.headers.get("idempotent-replay") === "true";
      successes.push({ apiKey, key: sentKey, path, status, text, isReplay });
    }
    return { status, body: parsed as Body, text, headers: response.headers };
  };
  const api: Api = {
    apiKey,
    baseUrl,
    get: (path, options) => call("GET", path, undefined, options),
    post: (path, body, options) => call("POST", path, body, options),
    patch: (path, body, options) => call("PATCH", path, body, options),
    put: (path, body, options) => call("PUT", path, body, options),
    delete: (path, options) => call("DELETE", path, undefined, options),
    call,
    card: async (fields = {}) => {
      const created = await call<ApiCard>("POST", "/v1/cards", { title: "A card", ...fields });
      if (created.status !== 201) throw new Error(`the card was not created: ${created.text}`);
      return created.body;
    },
    move: (number, statusId, index = 0, options = {}) =>
      call("POST", `/v1/cards/${number}/move`, { statusId, index }, options),
    readCard: async (number) => (await call<ApiCard>("GET", `/v1/cards/${number}`, undefined)).body,
    timeline: async (number) =>
      (await call<TimelineEvent[]>("GET", `/v1/cards/${number}/timeline`, undefined)).body,
    cardWhen: (number, isWanted) => eventually(() => api.readCard(number), isWanted),
    eventWhen: async (number, isWanted) => {
      const events = await eventually(
        () => api.timeline(number),
        (found) => found.some(isWanted),
      );
      const event = events.find(isWanted);
      if (!event) throw new Error("the event disappeared");
      return event;
    },
  };
  return api;
}

/** The longer a wait, the fewer calls in a second: they take time from the tests that run meanwhile. Adds at most 5 % to a wait. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(25, waitedMs / 20), 500);

/** Repeats a call until the condition holds; fails with the last result after 200 seconds. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (response: T) => boolean,
  patienceMs = TIMEOUT_MS,
): Promise<T> {
  const since = Date.now();
  for (;;) {
    const response = await ask();
    if (isWanted(response)) return response;
    const waitedMs = Date.now() - since;
    if (waitedMs > patienceMs)
      throw new Error(`the condition does not hold in time: ${JSON.stringify(response, null, 2)}`);
    await sleep(pauseAfter(waitedMs));
  }
}
