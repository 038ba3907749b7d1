import * as oauth from "openid-client";
import { firstCharacters } from "../../../flow/text.ts";
import { SignInRefused, type PersonToken, type SignInForge, type SignInProblem } from "../../sign-in.ts";
import { ForgeUnavailable } from "../../values.ts";

interface SignInOptions {
  /** `https://github.com`, or that of an Enterprise Server. */
  readonly pagesUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** In seconds; GitHub ends requests after 10. */
const TIMEOUT_S = 12;

/**
 * Sign-in with GitHub through the App
 * (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app).
 * GitHub has no metadata document, and names itself in `iss` (RFC 9207).
 */
export function createGitHubSignIn({ pagesUrl, clientId, clientSecret }: SignInOptions): SignInForge {
  const issuer = `${pagesUrl}/login/oauth`;
  const config = new oauth.Configuration(
    { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` },
    clientId,
    clientSecret,
  );
  config.timeout = TIMEOUT_S;
  config[oauth.customFetch] = fetchToken;
  // Only an Enterprise Server with GHE_PROTOCOL=http, and the sandbox forge.
  if (issuer.startsWith("http:")) oauth.allowInsecureRequests(config);
  return {
    start: async (redirectUri) => {
      const codeVerifier = oauth.randomPKCECodeVerifier();
      const state = oauth.randomState();
      const url = oauth.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
        state,
      });
      return { url: url.href, state, codeVerifier };
    },
    finish: async (returned, { state, codeVerifier }) => {
      const checks = { expectedState: state, pkceCodeVerifier: codeVerifier };
      const response = await oauth
        .authorizationCodeGrant(config, returned, checks)
        .catch((error: unknown) => {
          throw failureOf(error, returned.searchParams.get("iss") ?? issuer, issuer);
        });
      return tokenOf(response);
    },
  };
}

/** GitHub reports a refused exchange with status 200; the library expects 400, as RFC 6749 has it. */
const fetchToken: oauth.CustomFetch = async (url, { method, headers, body, redirect, signal }) => {
  const response = await fetch(url, {
    method,
    headers,
    body: body as string,
    redirect,
    ...(signal && { signal }),
  });
  if (response.status !== 200) return response;
  const text = await response.text();
  const isRefused = /"error"\s*:/.test(text) && !/"access_token"\s*:/.test(text);
  return new Response(text, { status: isRefused ? 400 : 200, headers: response.headers });
};

function tokenOf({ access_token, expires_in }: oauth.TokenEndpointResponse): PersonToken {
  const expiresAt = expires_in === undefined ? null : new Date(Date.now() + expires_in * 1_000).toISOString();
  return { accessToken: access_token, expiresAt };
}

/** The library's errors contain tokens and codes; these do not. */
function failureOf(error: unknown, given: string, issuer: string): Error {
  if (given !== issuer) return new SignInRefused("wrong_issuer", "the response names another issuer");
  if (error instanceof oauth.AuthorizationResponseError)
    return new SignInRefused(
      error.error === "access_denied" ? "cancelled" : "failed",
      `GitHub returned ${firstCharacters(error.error, 50)}`,
    );
  if (error instanceof oauth.ResponseBodyError)
    return new SignInRefused(
      REFUSALS.get(error.error) ?? "failed",
      `GitHub returned ${firstCharacters(error.error, 50)}`,
    );
  const { code, status } = statusOf(error);
  if (status !== null && status < 500) return new SignInRefused("failed", `GitHub returned ${status}`);
  if (code === "OAUTH_INVALID_RESPONSE") return new SignInRefused("failed", "the response is not valid");
  return new ForgeUnavailable("GitHub did not respond to the sign-in");
}

const REFUSALS: ReadonlyMap<string, SignInProblem> = new Map([["bad_verification_code", "expired"]]);

function statusOf(error: unknown): { readonly code: unknown; readonly status: number | null } {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  return { code, status: cause instanceof Response ? cause.status : null };
}
