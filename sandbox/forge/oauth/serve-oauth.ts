import express, { type Request, type Response, Router } from "express";
import { html } from "../../../src/http/reference/html.ts";
import type { ForgeContext } from "../context.ts";
import type { AccountRow } from "../rows.ts";
import {
  appWithClientId,
  issueCode,
  OauthError,
  redeemOauthCode,
  refreshTokens,
  revokeGrant,
} from "./grants.ts";

const AUTHORIZE = "/login/oauth/authorize";
const TOKEN = "/login/oauth/access_token";
const GRANT = ["/api/v3/applications/:clientId/grant", "/applications/:clientId/grant"];

/**
 * GitHub's sign-in for Apps
 * (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app).
 * The page asks as whom to sign in instead of for a password.
 */
export function serveOauth(forge: ForgeContext): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false });
  router.get(AUTHORIZE, (request, response) => {
    if (redirectUriOf(forge, request) === null) response.status(404).type("text").send("Not Found\n");
    else response.type("html").send(authorizePage(forge, request));
  });
  router.post(AUTHORIZE, form, (request: Request, response: Response) => {
    const redirectUri = redirectUriOf(forge, request);
    if (redirectUri === null) response.status(404).type("text").send("Not Found\n");
    else response.redirect(302, callbackOf(forge, request, redirectUri));
  });
  router.post(TOKEN, form, express.json(), (request: Request, response: Response) => {
    sendToken(request, response, tokenResponse(forge, Object(request.body)));
  });
  router.delete(GRANT, express.json(), (request: Request, response: Response) => {
    response.status(deleteGrant(forge, request)).end();
  });
  return router;
}

/** Where the browser returns; null unless the request is about the forge's App. */
function redirectUriOf(forge: ForgeContext, { query }: Request): string | null {
  const { client_id: clientId, redirect_uri: uri } = query;
  return appWithClientId(forge, clientId) && typeof uri === "string" && URL.canParse(uri) ? uri : null;
}

const people = ({ state }: ForgeContext): AccountRow[] =>
  state.accounts.all().filter(({ type }) => type === "User");

function authorizePage(forge: ForgeContext, request: Request): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sign in to the sandbox forge</title>
      </head>
      <body>
        <h1>Sign in to the sandbox forge</h1>
        <p>This page stands in for GitHub's. Choose who you are.</p>
        <form method="post" action="${request.originalUrl}">
          ${people(forge).map(
            ({ login }) => html`<p><button name="login" value="${login}">Sign in as ${login}</button></p>`,
          )}
          <p><button name="cancel" value="1">Cancel</button></p>
        </form>
      </body>
    </html> `.markup;
}

/** The address to which the browser returns, with a code or an error. */
function callbackOf(forge: ForgeContext, { query, body }: Request, redirectUri: string): string {
  const { state, code_challenge: challenge } = query;
  const { login } = Object(body) as { readonly login?: unknown };
  const account = people(forge).find((each) => each.login === login);
  const url = new URL(redirectUri);
  if (account === undefined) {
    url.searchParams.set("error", "access_denied");
    url.searchParams.set("error_description", "The user has denied your application access.");
  } else {
    const codeChallenge = typeof challenge === "string" ? challenge : null;
    const given = { accountId: account.id, redirectUri, codeChallenge };
    url.searchParams.set("code", issueCode(forge, given));
  }
  if (typeof state === "string") url.searchParams.set("state", state);
  url.searchParams.set("iss", `${forge.urls.root}/login/oauth`);
  return url.href;
}

function tokenResponse(forge: ForgeContext, fields: Readonly<Record<string, unknown>>): object {
  try {
    if (appWithClientId(forge, fields["client_id"])?.clientSecret !== fields["client_secret"])
      throw new OauthError(
        "incorrect_client_credentials",
        "The client_id and/or client_secret passed are incorrect.",
      );
    return fields["grant_type"] === "refresh_token"
      ? refreshTokens(forge, String(fields["refresh_token"]))
      : redeemOauthCode(forge, fields);
  } catch (error) {
    if (!(error instanceof OauthError)) throw error;
    return { error: error.code, error_description: error.message };
  }
}

/** As a form, unless the caller asks for JSON. */
function sendToken(request: Request, response: Response, body: object): void {
  if (request.accepts(["application/x-www-form-urlencoded", "json"]) === "json") response.json(body);
  else response.type("application/x-www-form-urlencoded").send(String(new URLSearchParams({ ...body })));
}

/** Ends the authorization of the person whose token the body has; the App authenticates itself. */
function deleteGrant(forge: ForgeContext, request: Request): number {
  const { clientId } = request.params;
  const app = appWithClientId(forge, clientId);
  const basic = Buffer.from(`${app?.clientId}:${app?.clientSecret}`).toString("base64");
  if (app === undefined || request.get("authorization") !== `Basic ${basic}`) return 404;
  const { access_token: given } = Object(request.body) as { readonly access_token?: unknown };
  const [token] = forge.state.tokens.inGroup(String(given));
  if (token?.isOfApp !== true) return 422;
  revokeGrant(forge, forge.state.accounts.need(token.accountId ?? 0));
  return 204;
}
