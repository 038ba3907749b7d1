import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { ForgeLimited } from "../../values.ts";
import { checkBeforeSending } from "./failures.ts";
import { type HttpResponse, limitIn, type ReportedLimit } from "./reported-limits.ts";
import { createReserve, MAX_ACCOUNTS } from "./reserve.ts";

/**
 * The first wait in seconds when GitHub states none
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
export const FIRST_WAIT_S = 60;

/** Limits that all processes share. An account is an installation id, `app` or `nobody`. */
export interface SharedLimits {
  /** `seconds` is 0 when the account is not limited. `nextWaitIsLonger`: the next wait would be longer. */
  read(account: string): Promise<{ readonly seconds: number; readonly nextWaitIsLonger: boolean }>;
  /**
   * Records a limit and returns its seconds. Without a stated time, it doubles the wait of the last
   * such limit. Null if it could not be stored yet.
   */
  record(
    account: string,
    limit: { readonly seconds: number | null; readonly byWrite: boolean },
  ): Promise<number | null>;
  /** Records a success: the next wait is short again. A read does not end the limits of writes. */
  reset(account: string, byWrite: boolean): Promise<void>;
}

export interface LimitedRequest {
  readonly account: string;
  /** The success of a token request does not mean that calls succeed again. */
  readonly kind: "read" | "write" | "token";
  readonly url: string;
}

export interface Limits {
  /** Throws `ForgeLimited` while GitHub limits the account. */
  check(account: string): Promise<void>;
  /** Counts a read that nothing depends on. Throws `ForgeLimited` if it would use the reserve of moves. */
  takeOptional(account: string, kind: "rest" | "graphql"): void;
  /**
   * Sends one request, unless GitHub limits its account, and reads limits from the response. Throws
   * `ForgeLimited` for both. Throws `NotSent` if the limits cannot be read.
   */
  guard<Sent extends HttpResponse>(request: LimitedRequest, send: () => Promise<Sent>): Promise<Sent>;
}

/** `now` in milliseconds. */
export const limitedFor = (seconds: number, now: number): ForgeLimited =>
  new ForgeLimited(new Date(Math.ceil(now / 1_000 + seconds) * 1_000), Math.ceil(seconds));

/** `clock` is monotonic, in milliseconds; `shared` is null for a process without a database. */
export function createLimits(clock: { now(): number }, shared: SharedLimits | null, log: Logger): Limits {
  /** Limits that are not stored or not stored yet, by account. */
  const limitedUntil = new LRUCache<string, number>({ max: MAX_ACCOUNTS });
  const reserve = createReserve(clock);

  const limited = (seconds: number): ForgeLimited => limitedFor(seconds, clock.now());

  function requireNoLimit(account: string): void {
    const left = (limitedUntil.get(account) ?? 0) - clock.now();
    if (left > 0) throw limited(left / 1_000);
  }

  /** Returns whether the wait of the next limit would be longer. */
  async function check(account: string): Promise<boolean> {
    requireNoLimit(account);
    if (shared === null) return false;
    const { seconds, nextWaitIsLonger } = await shared.read(account);
    requireNoLimit(account);
    if (seconds > 0) throw limited(seconds);
    return nextWaitIsLonger;
  }

  /** Returns the seconds of the limit. This process sends nothing while it is being stored. */
  async function record(account: string, byWrite: boolean, { seconds }: ReportedLimit): Promise<number> {
    const held = seconds ?? FIRST_WAIT_S;
    limitedUntil.set(account, Math.max(limitedUntil.get(account) ?? 0, clock.now() + held * 1_000));
    const stored = (await shared?.record(account, { seconds, byWrite })) ?? null;
    if (stored === null) return held;
    limitedUntil.delete(account);
    return stored;
  }

  async function guard<Sent extends HttpResponse>(
    { account, kind, url }: LimitedRequest,
    send: () => Promise<Sent>,
  ): Promise<Sent> {
    const nextWaitIsLonger = await checkBeforeSending(check(account));
    const response = await send();
    reserve.record(account, response);
    const limit = await limitIn(url, response, clock.now());
    if (limit === null) {
      // If it fails, the next success repeats it.
      const endsLimits = nextWaitIsLonger && response.ok && kind !== "token";
      if (endsLimits) await shared?.reset(account, kind === "write").catch(() => undefined);
      return response;
    }
    const seconds = await record(account, kind === "write", limit);
    const requestId = response.headers.get("x-github-request-id");
    log.warn({ account, status: response.status, requestId, seconds }, "GitHub limits requests");
    throw limited(seconds);
  }

  function takeOptional(account: string, kind: "rest" | "graphql"): void {
    const seconds = reserve.take(account, kind);
    if (seconds > 0) throw limited(seconds);
  }

  return { check: async (account) => void (await check(account)), takeOptional, guard };
}
