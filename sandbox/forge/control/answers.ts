import type { Answer } from "../server/api-error.ts";

/** The true status with a body in the wrong shape: a page of HTML, JSON cut in the middle, nothing, or lacking fields. */
export type Garble =
  | { readonly kind: "garble"; readonly as: "html" | "truncated" | "empty" }
  | { readonly kind: "garble"; readonly as: "without"; readonly fields: readonly string[] };

const HTML_PAGE =
  "<!DOCTYPE html>\n<html><head><title>Unicorn!</title></head><body><p>This page is taking too long to load.</p></body></html>\n";

/** A success in the wrong shape: the status stays. */
export function garbledResponse(answer: Answer, fault: Garble): Answer {
  if (fault.as === "html") {
    return {
      status: answer.status,
      headers: { ...answer.headers, "content-type": "text/html" },
      body: HTML_PAGE,
    };
  }
  if (fault.as === "without") {
    const dropped = new Set(fault.fields);
    return {
      ...answer,
      body: mapFields(answer.body, (key, value) => (dropped.has(key) ? undefined : value)),
    };
  }
  const headers = { ...answer.headers, "content-type": "application/json; charset=utf-8" };
  if (fault.as === "empty") return { status: answer.status, headers, body: "" };
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
  return { status: answer.status, headers, body: text.slice(0, Math.max(1, Math.floor(text.length / 2))) };
}

/** The answer of a forge that has not worked out yet whether its pull requests can be merged. */
export function withoutMergeability(answer: Answer): Answer {
  const body = mapFields(answer.body, (key, value) => {
    if (key === "mergeable") return typeof value === "string" ? "UNKNOWN" : null;
    if (key === "mergeStateStatus") return "UNKNOWN";
    if (key === "mergeable_state") return "unknown";
    return key === "rebaseable" ? null : value;
  });
  return { ...answer, body };
}

/** Every field of a JSON value passed through `change`; undefined drops it. */
function mapFields(value: unknown, change: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapFields(each, change));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(
    ([key, each]) => [key, mapFields(change(key, each), change)] as const,
  );
  return Object.fromEntries(fields.filter(([, each]) => each !== undefined));
}

export interface RateLimit {
  /** Which of GitHub's limits: calls an hour, calls in a short time, or things made in a short time. */
  readonly limit: "primary" | "secondary" | "content";
  readonly status?: 403 | 429;
  /** Seconds in `retry-after`; null sends none. A primary limit has none unless it is given. */
  readonly retryAfter?: number | null;
  /** When a primary limit ends, in seconds from now; 2400 when left out. */
  readonly resetIn?: number;
}

const MESSAGES = {
  primary: "API rate limit exceeded for installation ID",
  secondary: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
  content:
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
    "Please retry your request again later.",
};

/** The refusal of a caller over its limit. GraphQL tells of the primary one in an answer with status 200. */
export function rateLimitResponse(
  options: RateLimit,
  caller: { readonly installationId: number | null; readonly isGraphql: boolean },
  now: Date,
): Answer {
  const isPrimary = options.limit === "primary";
  const retryAfter = options.retryAfter === undefined ? (isPrimary ? null : 60) : options.retryAfter;
  const reset = Math.floor(now.getTime() / 1000) + (options.resetIn ?? 2_400);
  const message = isPrimary
    ? `${MESSAGES.primary} ${caller.installationId ?? "unknown"}.`
    : MESSAGES[options.limit];
  const isTold = isPrimary && caller.isGraphql;
  const status = isTold ? 200 : (options.status ?? 403);
  return {
    status,
    headers: {
      ...(retryAfter !== null && { "retry-after": String(retryAfter) }),
      ...(isPrimary && {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": "5000",
        "x-ratelimit-reset": String(reset),
      }),
    },
    body: isTold
      ? { errors: [{ type: "RATE_LIMITED", message }] }
      : {
          message,
          documentation_url: "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
          status: String(status),
        },
  };
}
