import { createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = "sha256=";

/**
 * Whether a delivery was signed with one of our secrets, two of which hold while they are being exchanged. `signature` is the
 * header `X-Hub-Signature-256`; the body is taken as the bytes that arrived, for it need not be valid UTF-8. The header with
 * SHA-1 is never looked at.
 */
export function verifyDelivery(
  rawBody: Uint8Array,
  signature: string | undefined,
  secrets: readonly string[],
): boolean {
  if (signature === undefined || !signature.startsWith(PREFIX) || rawBody.byteLength === 0) return false;
  const given = Buffer.from(signature.slice(PREFIX.length), "utf8");
  // Every secret is tried, so that the time taken does not tell which one matched.
  const matches = secrets.filter((secret) => secret !== "").map((secret) => signedBy(secret, rawBody, given));
  return matches.includes(true);
}

function signedBy(secret: string, rawBody: Uint8Array, given: Buffer): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(rawBody).digest("hex"), "utf8");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
