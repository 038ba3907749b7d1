import { hash } from "node:crypto";
import { Problem } from "../errors.ts";

export const MATCH_HEADER = "If-Match";

/** The ETag of a JSON text. */
export const etagOf = (json: string): string => `"${hash("sha256", json, "base64url")}"`;

/**
 * Throws `stale` if `If-Match` is sent and neither is `*` nor contains the ETag of the document. Weak
 * ETags are accepted, because proxies that compress responses make them weak.
 */
export function requireMatch(header: string | undefined, current: object): void {
  if (header === undefined || header.trim() === "*") return;
  const wanted = etagOf(JSON.stringify(current));
  if (header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === wanted)) return;
  throw new Problem(
    "stale",
    `The resource has changed since you read it: ${MATCH_HEADER} names an older ETag. Read it again and repeat your change.`,
  );
}
