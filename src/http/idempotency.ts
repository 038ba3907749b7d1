import { createHash, hash } from "node:crypto";
import { invalid, Problem } from "../errors.ts";

export const KEY_HEADER = "Idempotency-Key";
const KEY = /^[A-Za-z0-9_.:-]{16,255}$/;

/** The request's idempotency key. Throws `invalid` when it is missing or malformed. */
export function idempotencyKeyOf(header: string | undefined): string {
  if (header !== undefined && KEY.test(header)) return header;
  const wrong =
    header === undefined
      ? `Every write needs the ${KEY_HEADER} header, and this one came without.`
      : `The ${KEY_HEADER} header is not a key: ${whatIsWrong(header)}.`;
  throw invalid(
    `${wrong} A key is 16 to 255 characters from A-Z a-z 0-9 _ . : - (a random UUID is one), new for each request and the same for its retries.`,
  );
}

function whatIsWrong(key: string): string {
  if (key.length < 16 || key.length > 255) return `it has ${key.length} characters`;
  const [stranger = ""] = /[^A-Za-z0-9_.:-]/.exec(key) ?? [];
  return stranger === " " ? "it has a space in it" : `it has \`${stranger}\` in it`;
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

/** SHA-256 over all that makes a request the same request; spacing and the order of fields do not. */
export const fingerprintOf = (content: RequestContent): Buffer =>
  hash("sha256", JSON.stringify(inOrder(content)), "buffer");

/** Names a request across its retries: its key and what it asks. */
export const requestIdOf = (credentialId: string, key: string, fingerprint: Buffer): string =>
  createHash("sha256").update(`${credentialId}\n${key}\n`).update(fingerprint).digest("hex");

/** The same with the fields of all objects in one order. Not by a replacer of `JSON.stringify`, which takes three times as long. */
function inOrder(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields)
      .toSorted()
      .map((name) => [name, inOrder(fields[name])]),
  );
}

export const keyReused = (): Problem =>
  new Problem(
    "conflict",
    `This ${KEY_HEADER} was used for a different request. Use a new key for a new request.`,
  );
export const keyRunning = (): Problem =>
  new Problem("busy", "The first request with this key is still running. Ask again in a moment.", {
    retryAfter: 1,
  });
