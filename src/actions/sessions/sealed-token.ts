import { hkdfSync } from "node:crypto";
import type { PersonToken } from "../../forge/sign-in.ts";
import { openText, sealText } from "../sealed-text.ts";

/** The key for people's tokens. A new client secret makes stored tokens unreadable. */
export const tokenKeyOf = (clientSecret: string): Buffer =>
  Buffer.from(hkdfSync("sha256", clientSecret, "", "trunkline: tokens of sessions", 32));

/** Encrypts a token, for one session only. */
export const sealToken = (token: PersonToken, key: Buffer, sessionId: string): Buffer =>
  sealText(JSON.stringify(token), key, sessionId);

/** The token; null if it was encrypted with another key or for another session. */
export function openToken(sealed: Buffer, key: Buffer, sessionId: string): PersonToken | null {
  const text = openText(sealed, key, sessionId);
  return text === null ? null : (JSON.parse(text) as PersonToken);
}
