import type { ForgeContext } from "../context.ts";
import { ApiError } from "./api-error.ts";
import type { Caller } from "./caller.ts";

export type Resource = "core" | "graphql";

export interface Budget {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
}

/** The hourly limit of each caller and resource, and the limit of writes per minute. */
export interface RateLimits {
  read(caller: Caller, resource: Resource): Budget;
  /** Counts a call; throws if none is left. */
  take(caller: Caller, resource: Resource): void;
  /** Reverses `take`. */
  refund(caller: Caller, resource: Resource): void;
  /** Counts a write of an installation; throws above `writesPerMinute`. */
  takeWrite(caller: Caller): void;
}

const HOUR_SECONDS = 3_600;
const MINUTE_MS = 60_000;
/** GitHub's limit for callers without credentials. */
const ANONYMOUS_LIMIT = 60;

export function makeRateLimits(forge: ForgeContext): RateLimits {
  const writes = new Map<string, number[]>();
  const windows = new Map<string, { used: number; reset: number }>();
  const windowOf = (caller: Caller, resource: Resource) => {
    const key = `${resource}:${keyOf(caller)}`;
    const now = Math.floor(Date.parse(forge.now()) / 1000);
    const known = windows.get(key);
    if (known !== undefined && known.reset > now) return known;
    const fresh = { used: 0, reset: now + HOUR_SECONDS };
    windows.set(key, fresh);
    return fresh;
  };
  const read = (caller: Caller, resource: Resource): Budget => {
    const { used, reset } = windowOf(caller, resource);
    const limit = caller.kind === "anonymous" ? ANONYMOUS_LIMIT : forge.settings.rateLimit;
    return { limit, used: Math.min(used, limit), remaining: Math.max(0, limit - used), reset };
  };
  return {
    read,
    take(caller, resource) {
      if (read(caller, resource).remaining === 0) throw limitExceeded(caller);
      windowOf(caller, resource).used += 1;
    },
    refund(caller, resource) {
      const window = windowOf(caller, resource);
      // The call may have been counted in the hour before.
      window.used = Math.max(0, window.used - 1);
    },
    takeWrite(caller) {
      if (caller.kind !== "installation") return;
      const now = Date.parse(forge.now());
      const recent = (writes.get(keyOf(caller)) ?? []).filter((at) => at > now - MINUTE_MS);
      writes.set(keyOf(caller), recent);
      if (recent.length >= forge.settings.writesPerMinute) throw secondaryLimitExceeded();
      recent.push(now);
    },
  };
}

export const rateLimitHeaders = (budget: Budget, resource: Resource): Record<string, string> => ({
  "x-ratelimit-limit": String(budget.limit),
  "x-ratelimit-remaining": String(budget.remaining),
  "x-ratelimit-used": String(budget.used),
  "x-ratelimit-reset": String(budget.reset),
  "x-ratelimit-resource": resource,
});

const secondaryLimitExceeded = (): ApiError =>
  new ApiError(
    403,
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    { headers: { "retry-after": "60" } },
  );

/** The caller has used up the calls of the hour. */
export class HourlyLimitExceeded extends ApiError {
  constructor(message: string) {
    super(403, message);
  }
}

function limitExceeded(caller: Caller): ApiError {
  if (caller.kind === "installation")
    return new HourlyLimitExceeded(`API rate limit exceeded for installation ID ${caller.installation.id}.`);
  if (caller.kind === "person")
    return new HourlyLimitExceeded(`API rate limit exceeded for user ID ${caller.account.id}.`);
  return new HourlyLimitExceeded("API rate limit exceeded.");
}

function keyOf(caller: Caller): string {
  switch (caller.kind) {
    case "anonymous":
      return "anonymous";
    case "app":
      return `app:${caller.app.id}`;
    case "installation":
      return `installation:${caller.installation.id}`;
    case "person":
      return `account:${caller.account.id}`;
  }
}
