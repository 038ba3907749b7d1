import type { ForgeRequest } from "../../../metrics/metrics.ts";
import { LRUCache } from "lru-cache";
import type { Limits } from "./limits.ts";

/** Monotonic time in milliseconds, unlike the system's clock, which can be set. */
export interface MonotonicClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const monotonicClock: MonotonicClock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** A clock whose pauses take this part of their time. */
export const clockWithPauses = (factor: number): MonotonicClock => ({
  ...monotonicClock,
  sleep: (ms) => monotonicClock.sleep(ms * factor),
});

/**
 * Pinned because 2026-03-10 drops `merge_commit_sha` from pull requests
 * (https://docs.github.com/en/rest/about-the-rest-api/breaking-changes).
 */
const API_VERSION = "2022-11-28";
/** For a webhook of up to 25 MB, read from the delivery log. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const REPEAT_AFTER_MS = [300, 1_000];
/** No repeats after this time, so that the caller gets a response in time. */
const REPEAT_WITHIN_MS = 8_000;
const MAX_REDIRECTS = 3;

interface SendRules {
  /** For reads, and for minting tokens. */
  readonly isRepeatable: boolean;
  /** By `MonotonicClock`. */
  readonly deadline: number;
  /** Called immediately before each request; if it throws, the request is not sent. */
  readonly assertPermitted?: () => Promise<void>;
  /** The account that calls, and the route's template. */
  readonly about: { readonly account: string; readonly route: string };
  /** The account, for REST reads only: their responses are cached by account. */
  readonly readFor?: string;
  /** For a token request: the installation, whose limits apply. */
  readonly tokenFor?: string;
}

/** A complete response: the part of `Response` that octokit uses. */
export class CompleteResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #body: Buffer;

  constructor(status: number, headers: Headers, body: Buffer) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get size(): number {
    return this.#body.byteLength;
  }

  get isJson(): boolean {
    try {
      JSON.parse(this.#body.toString());
      return true;
    } catch {
      return false;
    }
  }

  /** The same response with the time at which GitHub confirmed it (RFC 9111, 4.3.4). */
  confirmedAt(date: string | null): CompleteResponse {
    const headers = new Headers(this.headers);
    if (date !== null) headers.set("date", date);
    return new CompleteResponse(this.status, headers, this.#body);
  }

  text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.#body));
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(Uint8Array.from(this.#body).buffer);
  }
}

export interface Transport {
  send(url: string, init: RequestInit, rules: SendRules): Promise<CompleteResponse>;
}

/** No response. The message contains no data of the request. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
}

/** Not repeated: the next response would be as large. */
export class ResponseTooLarge extends TransportFailure {}

/**
 * HTTP calls with a timeout for each request (octokit would retry after `AbortSignal.timeout`),
 * repeats of what is repeatable, and redirects on the same host that keep the method.
 */
export function createTransport(options: {
  baseUrl: string;
  requestTimeoutMs: number;
  clock: MonotonicClock;
  /** Without it, requests are sent in spite of limits. */
  limits?: Limits;
  /** Called for every request, including repeats and redirects. */
  observe?: ((request: ForgeRequest) => void) | undefined;
}): Transport {
  const { clock, limits } = options;
  const origin = new URL(options.baseUrl).origin;

  async function timedFetch(
    url: string,
    init: RequestInit,
    { deadline, about }: SendRules,
  ): Promise<CompleteResponse> {
    const limit = Math.min(options.requestTimeoutMs, deadline - clock.now());
    if (limit <= 0) throw new TransportFailure("no time left for a request");
    const startedAt = performance.now();
    let complete: CompleteResponse | null = null;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), limit);
    try {
      const headers = new Headers(init.headers);
      headers.set("x-github-api-version", API_VERSION);
      const response = await fetch(url, { ...init, headers, redirect: "manual", signal: stop.signal });
      complete = await readWhole(response);
      return complete;
    } catch (error) {
      if (error instanceof TransportFailure) throw error;
      throw new TransportFailure(stop.signal.aborted ? `no response within ${limit} ms` : reasonOf(error));
    } finally {
      clearTimeout(timer);
      options.observe?.({
        ...about,
        status: complete?.status ?? null,
        headers: complete?.headers ?? new Headers(),
        seconds: (performance.now() - startedAt) / 1_000,
      });
    }
  }

  function sendOne(url: string, init: RequestInit, rules: SendRules): Promise<CompleteResponse> {
    const send = async () => {
      await rules.assertPermitted?.();
      return await timedFetch(url, init, rules);
    };
    if (limits === undefined) return send();
    if (rules.tokenFor !== undefined)
      return limits.guard({ account: rules.tokenFor, kind: "token", url }, send);
    const kind = rules.isRepeatable ? "read" : "write";
    return limits.guard({ account: rules.about.account, kind, url }, send);
  }

  async function follow(url: string, init: RequestInit, rules: SendRules): Promise<CompleteResponse> {
    for (let hops = 0, at = url; ; hops++) {
      const response = await sendOne(at, init, rules);
      const next = redirectOf(response, at, init.method ?? "GET");
      if (next === null) return response;
      if (next.origin !== origin) throw new TransportFailure("redirected to another host");
      if (hops === MAX_REDIRECTS) throw new TransportFailure("too many redirects");
      at = next.href;
    }
  }

  async function send(url: string, init: RequestInit, rules: SendRules): Promise<CompleteResponse> {
    const startedAt = clock.now();
    for (let repeats = 0; ; repeats++) {
      const ended = await follow(url, init, rules).catch((error: unknown) => error);
      const isResponse = ended instanceof CompleteResponse;
      const wait = REPEAT_AFTER_MS[repeats];
      const isUseless = wait === undefined || ended instanceof ResponseTooLarge;
      const isLast = !rules.isRepeatable || isUseless || clock.now() - startedAt > REPEAT_WITHIN_MS;
      if (isResponse && (ended.status < 500 || isLast)) return ended;
      if (!isResponse && (isLast || !(ended instanceof TransportFailure))) throw ended;
      await clock.sleep(wait ?? 0);
    }
  }

  return { send };
}

/** The address of a redirect; a write follows only those that keep the method. */
function redirectOf(response: CompleteResponse, from: string, method: string): URL | null {
  const location = response.headers.get("location");
  if (location === null) return null;
  const isRead = method === "GET" || method === "HEAD";
  const statuses = isRead ? [301, 302, 303, 307, 308] : [307, 308];
  return statuses.includes(response.status) ? new URL(location, from) : null;
}

/** Reads the body to its end, so that one that stalls or breaks off counts as no response. */
async function readWhole(response: Response): Promise<CompleteResponse> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new ResponseTooLarge("the response is too large");
    chunks.push(chunk);
  }
  return new CompleteResponse(response.status, response.headers, Buffer.concat(chunks));
}

/** The code of the cause, such as ECONNRESET, or the error's name. */
function reasonOf(error: unknown): string {
  const { cause, name = "no response" } = Object(error) as {
    readonly cause?: { readonly code?: string };
    readonly name?: string;
  };
  return cause?.code ?? name;
}

const MAX_CACHED = 100;
/** Less than a page of a hundred repositories, which is rarely read. */
const MAX_CACHED_BYTES = 128 * 1024;

/**
 * Sends the ETag of an earlier response, because a 304 does not count against the rate limit
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api). The
 * cache is per account, since accounts may see different data. It holds only valid JSON: a response
 * that a proxy truncated or replaced may have the ETag too, and every 304 would return it.
 */
export function withConditionalReads(transport: Transport): Transport {
  const cache = new LRUCache<string, { readonly etag: string; readonly response: CompleteResponse }>({
    max: MAX_CACHED,
  });

  function store(key: string, response: CompleteResponse): CompleteResponse {
    const etag = response.headers.get("etag");
    const isCacheable = response.status === 200 && response.size <= MAX_CACHED_BYTES && response.isJson;
    if (isCacheable && etag !== null) cache.set(key, { etag, response });
    else cache.delete(key);
    return response;
  }

  return {
    async send(url, init, rules) {
      if (rules.readFor === undefined) return await transport.send(url, init, rules);
      const key = `${rules.readFor} ${url}`;
      const cached = cache.get(key);
      const headers = new Headers(init.headers);
      if (cached !== undefined) headers.set("if-none-match", cached.etag);
      const response = await transport.send(url, { ...init, headers }, rules);
      return response.status === 304 && cached !== undefined
        ? cached.response.confirmedAt(response.headers.get("date"))
        : store(key, response);
    },
  };
}
