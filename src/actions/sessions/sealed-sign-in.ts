import { hkdfSync } from "node:crypto";
import { openText, sealText } from "../sealed-text.ts";

/** A sign-in that waits for GitHub. Only the browser that started it has it, in a cookie. */
export interface PendingSignIn {
  readonly codeVerifier: string;
  readonly returnTo: string;
  /** The one-time link that started it, or null. */
  readonly linkToken: string | null;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
}

/** The key for pending sign-ins, the same in every process. */
export const signInKeyOf = (clientSecret: string): Buffer =>
  Buffer.from(hkdfSync("sha256", clientSecret, "", "trunkline: pending sign-ins", 32));

/** Encrypts a sign-in, for its state only. */
export const sealSignIn = (pending: PendingSignIn, key: Buffer, state: string): string =>
  sealText(JSON.stringify(pending), key, state).toString("base64url");

/** The sign-in of a state; null for another state, or if this service has not sealed it. */
export function openSignIn(sealed: string, key: Buffer, state: string): PendingSignIn | null {
  const text = openText(Buffer.from(sealed, "base64url"), key, state);
  return text === null ? null : (JSON.parse(text) as PendingSignIn);
}
