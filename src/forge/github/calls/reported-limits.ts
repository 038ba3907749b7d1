import { z } from "zod";

/** The part of a response that may report a limit. */
export type HttpResponse = Pick<Response, "status" | "ok" | "headers" | "text">;

/** A rate limit that a response of GitHub reports. */
export interface ReportedLimit {
  /** Seconds without requests; null when GitHub states no time. */
  readonly seconds: number | null;
}

/**
 * The limit in a response, or null. GitHub returns 403 or 429, and 200 to GraphQL
 * (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
 * `now` is used when the response has no date.
 */
export async function limitIn(
  url: string,
  response: HttpResponse,
  now: number,
): Promise<ReportedLimit | null> {
  const { status, headers } = response;
  const isGraphql = new URL(url).pathname.endsWith("/graphql");
  if (![403, 422, 429].includes(status) && !(status === 200 && isGraphql)) return null;
  const text = await response.text();
  if (status === 422 && !TOO_QUICKLY.test(text)) return null;
  // Most responses of GraphQL mention no limit, and parsing a large one takes long.
  if (status === 200 && !MENTIONS_LIMIT.test(text)) return null;
  const body = bodyOf(text);
  const isPrimary = PRIMARY.test(body.message) || body.errors.some(isPrimaryError);
  if (!isPrimary && !isSecondary(response, body)) return null;
  const retryAfter = numberIn(headers.get("retry-after"));
  const isUsedUp = isPrimary || headers.get("x-ratelimit-remaining") === "0";
  const reset = isUsedUp ? numberIn(headers.get("x-ratelimit-reset")) : null;
  // GitHub's clock, on which the reset is based. A date has no fractions of a second.
  const untilReset = reset === null ? null : reset - respondedAt(response, now) / 1_000 + 1;
  const stated = [retryAfter, untilReset].filter((seconds) => seconds !== null);
  return { seconds: stated.length === 0 ? null : Math.max(1, Math.ceil(Math.max(...stated))) };
}

/** What GitHub still allows an account until `resetsIn` seconds from now. */
export interface Allowance {
  /** `core` for REST, or `graphql`. */
  readonly resource: string;
  readonly remaining: number;
  readonly limit: number;
  readonly resetsIn: number;
}

/** The allowance in a response, or null. */
export function allowanceIn(response: Pick<HttpResponse, "headers">, now: number): Allowance | null {
  const header = (name: string): string | null => response.headers.get(`x-ratelimit-${name}`);
  const resource = header("resource");
  const remaining = numberIn(header("remaining"));
  const limit = numberIn(header("limit"));
  const reset = numberIn(header("reset"));
  if (resource === null || remaining === null || limit === null || reset === null) return null;
  return { resource, remaining, limit, resetsIn: reset - respondedAt(response, now) / 1_000 };
}

const MENTIONS_LIMIT = /rate.?limit|abuse detection|temporarily blocked|submitted too quickly/i;
const TOO_QUICKLY = /\bwas submitted too quickly\b/i;
const PRIMARY = /API rate limit (already )?exceeded/i;
const SECONDARY = /\brate limit\b|temporarily blocked|abuse detection/i;
/** GraphQL errors may quote the texts of users, but do not begin with them. */
const LIMIT_ERROR =
  /^(was submitted too quickly|API rate limit (already )?exceeded|You have (exceeded a secondary rate limit|triggered an abuse))/i;
const PRIMARY_TYPES: ReadonlySet<string> = new Set(["RATE_LIMITED", "RATE_LIMIT"]);

const text = z.string().catch("");
const bodyShape = z.looseObject({
  message: text,
  errors: z.array(z.looseObject({ type: text, code: text, message: text })).catch([]),
});
type Body = z.infer<typeof bodyShape>;

const isPrimaryError = ({ type, code }: Body["errors"][number]): boolean =>
  PRIMARY_TYPES.has(type) || code === "graphql_rate_limit";

function isSecondary({ status, headers }: HttpResponse, { message, errors }: Body): boolean {
  if (status === 429 || SECONDARY.test(message) || TOO_QUICKLY.test(message)) return true;
  if (errors.some((error) => LIMIT_ERROR.test(error.message))) return true;
  if (status !== 403) return false;
  // The last call of the hour may be refused for another reason, which has a message.
  return headers.has("retry-after") || (headers.get("x-ratelimit-remaining") === "0" && message === "");
}

function bodyOf(json: string): Body {
  try {
    return bodyShape.catch({ message: "", errors: [] }).parse(JSON.parse(json));
  } catch {
    return { message: "", errors: [] };
  }
}

/** In milliseconds. */
function respondedAt({ headers }: Pick<HttpResponse, "headers">, now: number): number {
  const at = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(at) ? now : at;
}

function numberIn(header: string | null): number | null {
  const value = Number(header);
  return header === null || header === "" || !Number.isFinite(value) || value < 0 ? null : value;
}
