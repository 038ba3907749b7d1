import { createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = "sha256=";

/**
 * Whether a delivery was signed with one of the secrets; there are two during a rotation.
 * `signature` is the header `X-Hub-Signature-256`. The body need not be valid UTF-8.
 */
export function verifyDelivery(
  rawBody: Uint8Array,
  signature: string | undefined,
  secrets: readonly string[],
): boolean {
  if (signature === undefined || !signature.startsWith(PREFIX) || rawBody.byteLength === 0) return false;
  const given = Buffer.from(signature.slice(PREFIX.length), "utf8");
  // Tries every secret, so that the time does not reveal which one matched.
  const matches = secrets.filter((secret) => secret !== "").map((secret) => signedBy(secret, rawBody, given));
  return matches.includes(true);
}

function signedBy(secret: string, rawBody: Uint8Array, given: Buffer): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(rawBody).digest("hex"), "utf8");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
