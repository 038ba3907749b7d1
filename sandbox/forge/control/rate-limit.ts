import type { ForgeResponse } from "../server/api-error.ts";

export interface RateLimit {
  /** GitHub's limit of requests per hour, of requests in a short time, or of content creation. */
  readonly limit: "primary" | "secondary" | "content";
  /** Default: 403. A primary limit of GraphQL is always 200; REST never returns 200. */
  readonly status?: 200 | 403 | 429;
  /** Seconds in `retry-after`; null omits the header. Default: 60, for `primary` none. */
  readonly retryAfter?: number | null;
  /** Seconds until a primary limit resets; default 2400. */
  readonly resetIn?: number;
  /** The type of the error for a primary limit of GraphQL; default `RATE_LIMITED`. */
  readonly type?: "RATE_LIMITED" | "RATE_LIMIT";
}

interface LimitedCaller {
  readonly installationId: number | null;
  readonly isGraphql: boolean;
}

/** How long a limit without a time lasts at least. */
const UNSTATED_S = 60;
const PRIMARY_RESET_S = 2_400;
const HOURLY = 5_000;

const SECONDARY = "You have exceeded a secondary rate limit.";
const DOCS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";
const MESSAGES = {
  secondary: `${SECONDARY} Please wait a few minutes before you try again.`,
  content:
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
    "Please retry your request again later.",
};

const retryAfterOf = ({ limit, retryAfter }: RateLimit): number | null =>
  retryAfter === undefined ? (limit === "primary" ? null : 60) : retryAfter;

/** For how many seconds the caller must send nothing. */
export function secondsOf(limit: RateLimit): number {
  const retryAfter = retryAfterOf(limit);
  if (limit.limit !== "primary") return retryAfter ?? UNSTATED_S;
  return Math.max(retryAfter ?? 0, limit.resetIn ?? PRIMARY_RESET_S);
}

/** The same limit after `ms`. */
export function remainingLimit(limit: RateLimit, ms: number): RateLimit {
  const left = (seconds: number): number => Math.max(0, Math.ceil(seconds - ms / 1_000));
  const retryAfter = retryAfterOf(limit);
  const stated = retryAfter === null ? null : left(retryAfter);
  return { ...limit, retryAfter: stated, resetIn: left(limit.resetIn ?? PRIMARY_RESET_S) };
}

/** The response to a caller over its limit, as GitHub words it. */
export function rateLimitResponse(limit: RateLimit, caller: LimitedCaller, now: Date): ForgeResponse {
  const isPrimary = limit.limit === "primary";
  const retryAfter = retryAfterOf(limit);
  const reset = Math.floor(now.getTime() / 1_000) + (isPrimary ? (limit.resetIn ?? PRIMARY_RESET_S) : 3_600);
  const remaining = isPrimary ? 0 : HOURLY - 10;
  const headers = {
    ...(retryAfter !== null && { "retry-after": String(retryAfter) }),
    "x-ratelimit-limit": String(HOURLY),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-used": String(HOURLY - remaining),
    "x-ratelimit-reset": String(reset),
    "x-ratelimit-resource": caller.isGraphql ? "graphql" : "core",
  };
  if (isPrimary && caller.isGraphql) return { status: 200, headers, body: graphqlBody(limit, caller) };
  const status = limit.status === 200 && !caller.isGraphql ? 403 : (limit.status ?? 403);
  const message = limit.limit === "primary" ? primaryMessage(caller) : MESSAGES[limit.limit];
  const documentation_url = isPrimary ? DOCS : `${DOCS}#about-secondary-rate-limits`;
  return {
    status,
    headers,
    body: { documentation_url, message, ...(status !== 200 && { status: String(status) }) },
  };
}

const primaryMessage = ({ installationId }: LimitedCaller): string =>
  `API rate limit exceeded for installation ID ${installationId ?? "unknown"}.`;

/** GitHub uses both forms. */
function graphqlBody({ type }: RateLimit, caller: LimitedCaller): object {
  const message = primaryMessage(caller);
  if (type !== "RATE_LIMIT") return { errors: [{ type: "RATE_LIMITED", message }] };
  const already = message.replace("limit exceeded", "limit already exceeded");
  return { errors: [{ type, code: "graphql_rate_limit", message: already }] };
}
