import { ForgeUnavailable } from "../../values.ts";
import type { RawAnswer } from "./send-call.ts";
import type { MonotonicClock } from "./transport.ts";

/** REST and GraphQL have separate hourly budgets. */
export type RateBudget = "rest" | "graphql";

/**
 * For a secondary limit without `retry-after`
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
const SECONDARY_WAIT_S = 60;
const LONGEST_WAIT_S = 15 * 60;

interface LimitedAnswer extends Pick<RawAnswer, "status" | "headers"> {
  /** The answer's `message`, or the messages of its GraphQL errors. */
  readonly message: string;
  /** A GraphQL error is of type RATE_LIMITED, with status 200. */
  readonly isGraphqlLimit: boolean;
}

interface HitLimit {
  /** Null for all calls. */
  readonly budget: RateBudget | null;
  readonly unavailable: ForgeUnavailable;
}

export interface Limits {
  /** Throws `ForgeUnavailable` while the account is limited. */
  check(account: string, budget: RateBudget): void;
  /** Records a limit if the answer reports one. */
  record(account: string, budget: RateBudget, answer: LimitedAnswer): HitLimit | null;
  /** Resets the backoff after a successful write. */
  resetBackoff(account: string): void;
}

/** GitHub's limits by account. Calling while limited can get the App banned. */
export function createLimits(clock: MonotonicClock): Limits {
  const limitedUntil = new Map<string, number>();
  const strikes = new Map<string, number>();

  function limit(account: string, budget: RateBudget | null, seconds: number): HitLimit {
    const key = budget === null ? account : `${account} ${budget}`;
    limitedUntil.set(key, Math.max(limitedUntil.get(key) ?? 0, clock.now() + seconds * 1_000));
    return { budget, unavailable: limited(seconds) };
  }

  function check(account: string, budget: RateBudget): void {
    for (const key of [account, `${account} ${budget}`]) {
      const until = limitedUntil.get(key);
      if (until === undefined) continue;
      const left = until - clock.now();
      if (left > 0) throw limited(Math.ceil(left / 1_000));
      limitedUntil.delete(key);
    }
  }

  function note(account: string, budget: RateBudget, answer: LimitedAnswer): HitLimit | null {
    const retryAfter = numberIn(answer.headers["retry-after"]);
    if (isPrimary(answer)) {
      const reset = numberIn(answer.headers["x-ratelimit-reset"]);
      const untilReset =
        reset === null ? SECONDARY_WAIT_S : Math.ceil(reset - answeredAt(answer, clock) / 1_000) + 1;
      return limit(account, budget, Math.max(1, retryAfter ?? untilReset));
    }
    if (!isSecondary(answer, retryAfter)) return null;
    const strike = strikes.get(account) ?? 0;
    strikes.set(account, strike + 1);
    const backoff = Math.min(SECONDARY_WAIT_S * 2 ** strike, LONGEST_WAIT_S);
    return limit(account, null, retryAfter ?? backoff);
  }

  return { check, record: note, resetBackoff: (account) => void strikes.delete(account) };
}

export const limited = (seconds: number): ForgeUnavailable =>
  new ForgeUnavailable("GitHub's rate limit is reached", { retryAfter: seconds, reason: "rate_limit" });

/** In milliseconds by GitHub's clock, on which its limits are based; ours may be wrong. */
function answeredAt({ headers }: LimitedAnswer, clock: MonotonicClock): number {
  const at = Date.parse(String(headers["date"] ?? ""));
  return Number.isNaN(at) ? clock.now() : at;
}

function isPrimary(answer: LimitedAnswer): boolean {
  if (answer.isGraphqlLimit) return true;
  if (answer.status !== 403 && answer.status !== 429) return false;
  if (/secondary rate limit/i.test(answer.message)) return false;
  if (/API rate limit exceeded/i.test(answer.message)) return true;
  // The last call of the hour may be refused for another reason.
  const isRefusal = answer.status === 403 && !/rate limit/i.test(answer.message) && answer.message !== "";
  return String(answer.headers["x-ratelimit-remaining"]) === "0" && !isRefusal;
}

function isSecondary(answer: LimitedAnswer, retryAfter: number | null): boolean {
  if (answer.status === 429) return true;
  if (answer.status !== 403) return false;
  if (/secondary rate limit|temporarily blocked|abuse detection/i.test(answer.message)) return true;
  return retryAfter !== null;
}

function numberIn(header: string | number | undefined): number | null {
  const value = Number(header);
  return header === undefined || header === "" || !Number.isFinite(value) || value < 0 ? null : value;
}
