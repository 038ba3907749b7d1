import { ForgeUnavailable } from "../../values.ts";
import type { ForgeClock } from "./clock.ts";
import type { RawAnswer } from "./send-call.ts";

/** REST and GraphQL have separate hourly budgets. */
export type Budget = "rest" | "graphql";

/** What GitHub asks for where it names no time (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api). */
const SECONDARY_WAIT_S = 60;
const LONGEST_WAIT_S = 15 * 60;

/** What GitHub said, in as far as limits are told from it. */
export interface LimitedAnswer extends Pick<RawAnswer, "status" | "headers"> {
  /** The answer's `message`, or the messages of its GraphQL errors. */
  readonly words: string;
  /** A GraphQL error says RATE_LIMITED, with status 200. */
  readonly isGraphqlLimit: boolean;
}

/** A limit that was hit: of one budget, or of all calls. */
export interface HitLimit {
  readonly budget: Budget | null;
  readonly unavailable: ForgeUnavailable;
}

export interface Limits {
  /** Throws `ForgeUnavailable` while GitHub wants no calls of this account. */
  check(account: string, budget: Budget): void;
  /** Whether the answer says that a limit was hit; from now on `check` holds the account back. */
  note(account: string, budget: Budget, answer: LimitedAnswer): HitLimit | null;
  /** An order was accepted: a limit hit later starts from the shortest wait again. */
  passed(account: string): void;
}

/**
 * The limits GitHub has told us of, per installation. Calling on regardless gets an App banned, so what is limited is not
 * called again before its time.
 */
export function createLimits(clock: ForgeClock): Limits {
  const heldUntil = new Map<string, number>();
  const strikes = new Map<string, number>();

  function hold(account: string, budget: Budget | null, seconds: number): HitLimit {
    const key = budget === null ? account : `${account} ${budget}`;
    heldUntil.set(key, Math.max(heldUntil.get(key) ?? 0, clock.now() + seconds * 1_000));
    return { budget, unavailable: limited(seconds) };
  }

  function check(account: string, budget: Budget): void {
    for (const key of [account, `${account} ${budget}`]) {
      const until = heldUntil.get(key);
      if (until === undefined) continue;
      const left = until - clock.now();
      if (left > 0) throw limited(Math.ceil(left / 1_000));
      heldUntil.delete(key);
    }
  }

  function note(account: string, budget: Budget, answer: LimitedAnswer): HitLimit | null {
    const retryAfter = numberIn(answer.headers["retry-after"]);
    if (isPrimary(answer)) {
      const reset = numberIn(answer.headers["x-ratelimit-reset"]);
      const untilReset =
        reset === null ? SECONDARY_WAIT_S : Math.ceil(reset - saidAt(answer, clock) / 1_000) + 1;
      return hold(account, budget, Math.max(1, retryAfter ?? untilReset));
    }
    if (!isSecondary(answer, retryAfter)) return null;
    const strike = strikes.get(account) ?? 0;
    strikes.set(account, strike + 1);
    const backoff = Math.min(SECONDARY_WAIT_S * 2 ** strike, LONGEST_WAIT_S);
    return hold(account, null, retryAfter ?? backoff);
  }

  return { check, note, passed: (account) => void strikes.delete(account) };
}

/** For a call that is not made because GitHub wants none for so long. */
export function limited(seconds: number): ForgeUnavailable {
  return new ForgeUnavailable("GitHub limits our calls", { retryAfter: seconds });
}

/** By the forge's own clock, which its limits go by: ours may be wrong, and everybody would wait for it. In milliseconds. */
function saidAt({ headers }: LimitedAnswer, clock: ForgeClock): number {
  const at = Date.parse(String(headers["date"] ?? ""));
  return Number.isNaN(at) ? clock.now() : at;
}

function isPrimary(answer: LimitedAnswer): boolean {
  if (answer.isGraphqlLimit) return true;
  if (answer.status !== 403 && answer.status !== 429) return false;
  if (/secondary rate limit/i.test(answer.words)) return false;
  if (/API rate limit exceeded/i.test(answer.words)) return true;
  // The last call of the hour may itself be refused for what it asks.
  const isRefusal = answer.status === 403 && !/rate limit/i.test(answer.words) && answer.words !== "";
  return String(answer.headers["x-ratelimit-remaining"]) === "0" && !isRefusal;
}

function isSecondary(answer: LimitedAnswer, retryAfter: number | null): boolean {
  if (answer.status === 429) return true;
  if (answer.status !== 403) return false;
  if (/secondary rate limit|temporarily blocked|abuse detection/i.test(answer.words)) return true;
  return retryAfter !== null;
}

function numberIn(header: string | number | undefined): number | null {
  const value = Number(header);
  return header === undefined || header === "" || !Number.isFinite(value) || value < 0 ? null : value;
}
