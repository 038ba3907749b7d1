import type { ForgeResponse } from "../server/api-error.ts";

/** Keeps the status and sends a wrong body: HTML, truncated JSON, nothing, or missing fields. */
export type Garble =
  | { readonly kind: "garble"; readonly as: "html" | "truncated" | "empty" }
  | { readonly kind: "garble"; readonly as: "without"; readonly fields: readonly string[] };

const HTML_PAGE =
  "<!DOCTYPE html>\n<html><head><title>Unicorn!</title></head><body><p>This page is taking too long to load.</p></body></html>\n";

export function garbledResponse(response: ForgeResponse, fault: Garble): ForgeResponse {
  const { status, headers, body } = response;
  if (fault.as === "html")
    return { status, headers: { ...headers, "content-type": "text/html" }, body: HTML_PAGE };
  if (fault.as === "without") {
    const dropped = new Set(fault.fields);
    return { ...response, body: mapFields(body, (key, value) => (dropped.has(key) ? undefined : value)) };
  }
  const json = { ...headers, "content-type": "application/json; charset=utf-8" };
  if (fault.as === "empty") return { status, headers: json, body: "" };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: json, body: text.slice(0, Math.max(1, Math.floor(text.length / 2))) };
}

/** A response in which the mergeability of all pull requests is unknown. */
export function withoutMergeability(response: ForgeResponse): ForgeResponse {
  const body = mapFields(response.body, (key, value) => {
    if (key === "mergeable") return typeof value === "string" ? "UNKNOWN" : null;
    if (key === "mergeStateStatus") return "UNKNOWN";
    if (key === "mergeable_state") return "unknown";
    return key === "rebaseable" ? null : value;
  });
  return { ...response, body };
}

/** Applies `change` to every field of a JSON value; undefined removes the field. */
function mapFields(value: unknown, change: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapFields(each, change));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(
    ([key, each]) => [key, mapFields(change(key, each), change)] as const,
  );
  return Object.fromEntries(fields.filter(([, each]) => each !== undefined));
}

/** The field at `path` of a GraphQL call is null, with an error of any type. */
export interface GraphqlError {
  readonly kind: "graphql-error";
  /** Null for none, as in GitHub's own failures. */
  readonly type: string | null;
  readonly message: string;
  readonly path: readonly string[];
}

export function graphqlErrorResponse({ type, message, path }: GraphqlError): ForgeResponse {
  const data = path.reduceRight<unknown>((value, name) => ({ [name]: value }), null);
  return { status: 200, body: { data, errors: [{ ...(type !== null && { type }), path, message }] } };
}

/** Ends GraphQL queries with more than `largest` top-level fields, as GitHub ends large ones. */
export interface QueryLimit {
  readonly kind: "query-limit";
  readonly largest: number;
  /** An error with status 200, an error that reports a timeout, or 502 after ten seconds. */
  readonly as: "resource-limits" | "timeout" | "bad-gateway";
}

export function queryLimitResponse({ as }: QueryLimit): ForgeResponse {
  if (as === "bad-gateway") {
    return { status: 502, headers: { "content-type": "text/html" }, body: HTML_PAGE };
  }
  const error =
    as === "timeout"
      ? { message: "Something went wrong while executing your query. This may be the result of a timeout." }
      : { type: "RESOURCE_LIMITS_EXCEEDED", message: "Resource limits for this query exceeded." };
  return { status: 200, body: { data: null, errors: [error] } };
}
