import { createHash, randomBytes } from "node:crypto";
import { createUserToken } from "../app-identity.ts";
import type { ForgeContext, OauthCode } from "../context.ts";
import { isoSeconds } from "../git/commits.ts";
import { presentAccount } from "../present/account.ts";
import type { AccountRow, AppRow } from "../rows.ts";

const CODE_LIFETIME_MS = 600_000;
const TOKEN_LIFETIME_S = 28_800;
const REFRESH_LIFETIME_S = 15_897_600;

/** The forge's App, if it has this client id. */
export const appWithClientId = ({ state }: ForgeContext, clientId: unknown): AppRow | undefined =>
  state.apps.all().find((app) => app.clientId === clientId);

/** Issues the code for a person who agrees. */
export function issueCode(forge: ForgeContext, given: Omit<OauthCode, "createdAt">): string {
  const code = randomBytes(10).toString("hex");
  forge.oauthCodes.set(code, { ...given, createdAt: forge.now() });
  return code;
}

/** GitHub responds to refused exchanges with status 200 and one of these. */
export class OauthError extends Error {
  override readonly name = "OauthError";
  readonly code: string;

  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}

const badCode = (): OauthError =>
  new OauthError("bad_verification_code", "The code passed is incorrect or expired.");

/** Exchanges a code for a token. Each code can be used once, within ten minutes. */
export function redeemOauthCode(forge: ForgeContext, fields: Readonly<Record<string, unknown>>): object {
  const code = String(fields["code"]);
  const found = forge.oauthCodes.get(code);
  forge.oauthCodes.delete(code);
  if (found === undefined) throw badCode();
  if (Date.parse(forge.now()) - Date.parse(found.createdAt) > CODE_LIFETIME_MS) throw badCode();
  const uri = fields["redirect_uri"];
  if (uri !== undefined && uri !== found.redirectUri)
    throw new OauthError(
      "redirect_uri_mismatch",
      "The redirect_uri MUST match the registered callback URL for this application.",
    );
  const challenge = createHash("sha256").update(String(fields["code_verifier"])).digest("base64url");
  if (found.codeChallenge !== null && challenge !== found.codeChallenge) throw badCode();
  return issueTokens(forge, found.accountId);
}

/** Replaces a refresh token, which can be used once. */
export function refreshTokens(forge: ForgeContext, refreshToken: string): object {
  const accountId = forge.refreshTokens.get(refreshToken);
  forge.refreshTokens.delete(refreshToken);
  if (accountId === undefined)
    throw new OauthError("bad_refresh_token", "The refresh token passed is incorrect or expired.");
  return issueTokens(forge, accountId);
}

function issueTokens(forge: ForgeContext, accountId: number): object {
  const expiresAt = isoSeconds(new Date(Date.parse(forge.now()) + TOKEN_LIFETIME_S * 1_000));
  const { token } = createUserToken(forge.state, accountId, expiresAt);
  const refreshToken = `ghr_${randomBytes(38).toString("hex")}`;
  forge.refreshTokens.set(refreshToken, accountId);
  return {
    access_token: token,
    expires_in: TOKEN_LIFETIME_S,
    refresh_token: refreshToken,
    refresh_token_expires_in: REFRESH_LIFETIME_S,
    token_type: "bearer",
    scope: "",
  };
}

/** Ends all tokens with which the App acts as a person, and notifies the App. */
export function revokeGrant(forge: ForgeContext, account: AccountRow): void {
  const { tokens } = forge.state;
  for (const { id, accountId, isOfApp } of tokens.all())
    if (isOfApp && accountId === account.id) tokens.delete(id);
  for (const [token, accountId] of forge.refreshTokens)
    if (accountId === account.id) forge.refreshTokens.delete(token);
  forge.webhooks.enqueue({
    event: "github_app_authorization",
    action: "revoked",
    installationId: null,
    repositoryId: null,
    payload: { action: "revoked", sender: presentAccount(forge, account) },
  });
}
