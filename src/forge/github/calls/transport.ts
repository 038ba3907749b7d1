import type { ForgeRequest } from "../../../metrics/metrics.ts";
import { LRUCache } from "lru-cache";
import type { ForgeClock } from "./clock.ts";

/** Pinned because 2026-03-10 drops `merge_commit_sha` from pull requests (https://docs.github.com/en/rest/about-the-rest-api/breaking-changes). */
const API_VERSION = "2022-11-28";
/** Above the largest answer that makes sense: a webhook of up to 25 MB, read from the delivery log with what surrounds it. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const REPEAT_AFTER_MS = [300, 1_000];
/** A repeatable call is begun again only this long after its start, so that an answer comes in time. */
const REPEAT_WITHIN_MS = 8_000;
const MAX_REDIRECTS = 3;

export interface SendRules {
  /** Asking twice does no harm: reads, and minting tokens. */
  readonly isRepeatable: boolean;
  /** On the clock; nothing is waited for beyond it. */
  readonly deadline: number;
  /** Whose call it is, and its route's template. */
  readonly about: { readonly account: string; readonly route: string };
  /** Set for reads over REST: the account that asks. */
  readonly readFor?: string;
  /** Looked at before each request, repeats and redirects included; where it throws, none is made any more. */
  readonly mayAsk?: () => Promise<void>;
}

/** An answer that has arrived whole: as much of a `Response` as octokit asks for. */
export class Arrived {
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

  text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.#body));
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(Uint8Array.from(this.#body).buffer);
  }
}

export interface Transport {
  /** One call as far as the caller is concerned. */
  send(url: string, init: RequestInit, rules: SendRules): Promise<Arrived>;
}

/** No answer came. Its message holds nothing of the request. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";
}

/** Asked again it would be as large. */
export class AnswerTooLarge extends TransportFailure {}

/**
 * HTTP towards one GitHub: a limit of our own on each request (`AbortSignal.timeout` would be retried by octokit), repeats of
 * what may be repeated, and redirects that stay on the same host and keep the method.
 */
export function createTransport(options: {
  baseUrl: string;
  requestTimeoutMs: number;
  clock: ForgeClock;
  /** Told of every request, repeats and redirects included. */
  observe?: ((request: ForgeRequest) => void) | undefined;
}): Transport {
  const { clock } = options;
  const origin = new URL(options.baseUrl).origin;

  async function timedFetch(
    url: string,
    init: RequestInit,
    { deadline, about }: SendRules,
  ): Promise<Arrived> {
    const limit = Math.min(options.requestTimeoutMs, deadline - clock.now());
    if (limit <= 0) throw new TransportFailure("no time left to ask");
    const begun = performance.now();
    let ended: Arrived | null = null;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), limit);
    try {
      const headers = new Headers(init.headers);
      headers.set("x-github-api-version", API_VERSION);
      const answer = await fetch(url, { ...init, headers, redirect: "manual", signal: stop.signal });
      ended = await arrived(answer);
      return ended;
    } catch (error) {
      if (error instanceof TransportFailure) throw error;
      throw new TransportFailure(stop.signal.aborted ? `no answer within ${limit} ms` : reasonOf(error));
    } finally {
      clearTimeout(timer);
      options.observe?.({
        ...about,
        status: ended?.status ?? null,
        headers: ended?.headers ?? new Headers(),
        seconds: (performance.now() - begun) / 1_000,
      });
    }
  }

  async function follow(url: string, init: RequestInit, rules: SendRules): Promise<Arrived> {
    for (let hops = 0, at = url; ; hops++) {
      await rules.mayAsk?.();
      const answer = await timedFetch(at, init, rules);
      const next = redirectOf(answer, at, init.method ?? "GET");
      if (next === null) return answer;
      if (next.origin !== origin) throw new TransportFailure("redirected to another host");
      if (hops === MAX_REDIRECTS) throw new TransportFailure("too many redirects");
      at = next.href;
    }
  }

  async function send(url: string, init: RequestInit, rules: SendRules): Promise<Arrived> {
    const begun = clock.now();
    for (let repeats = 0; ; repeats++) {
      const ended = await follow(url, init, rules).catch((error: unknown) => error);
      const isAnswer = ended instanceof Arrived;
      const wait = REPEAT_AFTER_MS[repeats];
      const isInVain = wait === undefined || ended instanceof AnswerTooLarge;
      const isLast = !rules.isRepeatable || isInVain || clock.now() - begun > REPEAT_WITHIN_MS;
      if (isAnswer && (ended.status < 500 || isLast)) return ended;
      if (!isAnswer && (isLast || !(ended instanceof TransportFailure))) throw ended;
      await clock.sleep(wait ?? 0);
    }
  }

  return { send };
}

/** Where an answer sends us; a write is sent on only where the redirect keeps its method. */
function redirectOf(answer: Arrived, from: string, method: string): URL | null {
  const location = answer.headers.get("location");
  if (location === null) return null;
  const isRead = method === "GET" || method === "HEAD";
  const statuses = isRead ? [301, 302, 303, 307, 308] : [307, 308];
  return statuses.includes(answer.status) ? new URL(location, from) : null;
}

/** Reads the body to its end, so that a hang or a cut inside it counts as no answer. */
async function arrived(answer: Response): Promise<Arrived> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new AnswerTooLarge("the answer is too large");
    chunks.push(chunk);
  }
  return new Arrived(answer.status, answer.headers, Buffer.concat(chunks));
}

/** Why `fetch` failed: the code of its cause, such as ECONNRESET, or the error's name. */
function reasonOf(error: unknown): string {
  const { cause, name = "no answer" } = Object(error) as {
    readonly cause?: { readonly code?: string };
    readonly name?: string;
  };
  return cause?.code ?? name;
}

const MAX_KEPT = 100;
/** A page of a hundred repositories is larger than this, and is not read often. */
const MAX_KEPT_BYTES = 128 * 1024;

/**
 * Reads that repeat ask whether anything has changed: an answer of 304 costs nothing of the hour's budget
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api). Kept per account, for one must
 * not be shown what another may see. Only JSON is kept: what a proxy has cut short or replaced may still carry the ETag, and
 * each 304 would bring it back.
 */
export function withConditionalReads(transport: Transport): Transport {
  const kept = new LRUCache<string, { readonly etag: string; readonly answer: Arrived }>({ max: MAX_KEPT });

  function keep(key: string, answer: Arrived): Arrived {
    const etag = answer.headers.get("etag");
    const isKept = answer.status === 200 && answer.size <= MAX_KEPT_BYTES && answer.isJson;
    if (isKept && etag !== null) kept.set(key, { etag, answer });
    else kept.delete(key);
    return answer;
  }

  return {
    async send(url, init, rules) {
      if (rules.readFor === undefined) return await transport.send(url, init, rules);
      const key = `${rules.readFor} ${url}`;
      const known = kept.get(key);
      const headers = new Headers(init.headers);
      if (known !== undefined) headers.set("if-none-match", known.etag);
      const answer = await transport.send(url, { ...init, headers }, rules);
      return answer.status === 304 && known !== undefined ? known.answer : keep(key, answer);
    },
  };
}
