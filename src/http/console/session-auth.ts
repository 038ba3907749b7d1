import type { Request } from "express";
import { parseCredentialKey } from "../../actions/credentials/credential-key.ts";
import { forbidden, Problem } from "../../errors.ts";
import { recordActivity } from "../../store/tenancy/sessions.ts";
import type { AuthMethod } from "../authenticate.ts";
import { cookieName, readCookie, type Console } from "./console.ts";

/** The authentication of `/console`, which ignores API keys. */
export function sessionAuth(console: Console): AuthMethod {
  const { publicUrl, signIn } = console;
  return {
    isSession: true,
    presented: (request) => {
      const cookie = readCookie(request, cookieName(console, "trunkline"));
      return cookie === undefined ? undefined : parseCredentialKey(cookie, "tls");
    },
    refuse: () =>
      new Problem("unauthenticated", "You are not signed in. Sign in to the console again.", {
        body: { code: "not_signed_in" },
      }),
    requireOwnPage: (request) => {
      if (isFromOwnPage(request, publicUrl())) return;
      throw forbidden(`This request does not come from a page of the console at ${publicUrl()}.`);
    },
    recordActivity: (db, credential) =>
      signIn ? recordActivity(db, credential, signIn.idleMs) : Promise.resolve(false),
  };
}

/**
 * Browsers name in `Sec-Fetch-Site` which page sends a request, except on plain HTTP; scripts cannot
 * change it or `Origin`. SameSite=Lax alone would allow pages of other hosts of the same domain.
 */
function isFromOwnPage(request: Request, publicUrl: string): boolean {
  const site = request.get("sec-fetch-site");
  return site === undefined ? request.get("origin") === new URL(publicUrl).origin : site === "same-origin";
}
