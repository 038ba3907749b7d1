import { createHash, hash } from "node:crypto";
import { invalid, Problem } from "../errors.ts";

export const KEY_HEADER = "Idempotency-Key";
/** Set on the stored response to an earlier request with the same key. */
export const REPLAY_HEADER = "Idempotent-Replay";
const KEY = /^[A-Za-z0-9_.:-]{16,255}$/;

/** The request's idempotency key. Throws `invalid` when it is missing or malformed. */
export function idempotencyKeyOf(header: string | undefined): string {
  if (header !== undefined && KEY.test(header)) return header;
  const wrong =
    header === undefined
      ? `The ${KEY_HEADER} header is missing. Every write needs one.`
      : `The ${KEY_HEADER} header is invalid: it ${faultOf(header)}.`;
  throw invalid(
    `${wrong} A key has 16 to 255 characters from A-Z a-z 0-9 _ . : - (for example a random UUID). Use a new key for each request and the same key for its retries.`,
  );
}

function faultOf(key: string): string {
  if (key.length < 16 || key.length > 255) return `has ${key.length} characters`;
  const [character = ""] = /[^A-Za-z0-9_.:-]/.exec(key) ?? [];
  return character === " " ? "contains a space" : `contains \`${character}\``;
}

interface RequestContent {
  readonly method: string;
  /** The route's path, as in `/v1/cards/{number}`. */
  readonly route: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly workspaceId: string;
  readonly body: unknown;
}

/**
 * SHA-256 of a request's content. Whitespace and the order of fields in the body do not change it.
 */
export const fingerprintOf = (content: RequestContent): Buffer =>
  hash("sha256", JSON.stringify(sorted(content)), "buffer");

/** Identifies a request across its retries: by credential, key and content. */
export const requestIdOf = (credentialId: string, key: string, fingerprint: Buffer): string =>
  createHash("sha256").update(`${credentialId}\n${key}\n`).update(fingerprint).digest("hex");

/**
 * Sorts the fields of all objects. A replacer of `JSON.stringify` would take three times as long.
 */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields)
      .toSorted()
      .map((name) => [name, sorted(fields[name])]),
  );
}

export const keyReused = (): Problem =>
  new Problem(
    "conflict",
    `This ${KEY_HEADER} was used for a different request. Use a new key for a new request.`,
  );
export const keyRunning = (): Problem =>
  new Problem(
    "busy",
    "The first request with this key is still running. Make the same call again in a moment.",
    {
      retryAfter: 1,
    },
  );
