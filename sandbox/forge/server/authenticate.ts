import type { ForgeContext } from "../context.ts";
import type { InstallationRow, Permissions, TokenRow } from "../rows.ts";
import { ApiError } from "./api-error.ts";
import { looksLikeJwt, verifyAppJwt } from "./app-jwt.ts";
import type { Caller } from "./caller.ts";

/** Authenticates a call by `Bearer`, `token`, or `Basic` with a token as password or user name. */
export function authenticate(forge: ForgeContext, authorization: string | undefined): Caller {
  const secret = secretOf(authorization);
  if (secret === null) return { kind: "anonymous" };
  if (looksLikeJwt(secret)) {
    const [app] = forge.state.apps.all();
    if (app === undefined) throw badCredentials();
    verifyAppJwt(secret, app, Math.floor(Date.parse(forge.now()) / 1000));
    return { kind: "app", app };
  }
  const [token] = forge.state.tokens.inGroup(secret);
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= forge.now()))
    throw badCredentials();
  return callerOf(forge, token);
}

function callerOf(forge: ForgeContext, token: TokenRow): Caller {
  const { accounts, apps, installations } = forge.state;
  if (token.accountId !== null) return { kind: "person", account: accounts.need(token.accountId), token };
  const installation = installations.get(token.installationId ?? 0);
  if (installation === undefined) throw badCredentials();
  if (installation.suspendedAt !== null) throw installationSuspended();
  const permissions = commonPermissions(token.permissions ?? installation.permissions, installation);
  const account = accounts.need(apps.need(installation.appId).botId);
  return { kind: "installation", account, installation, token, permissions };
}

/** Those of a token that its installation still has. */
const commonPermissions = (ofToken: Permissions, { permissions }: InstallationRow): Permissions =>
  Object.fromEntries(
    Object.entries(ofToken).flatMap(([name, level]) => {
      const granted = permissions[name];
      return granted === undefined ? [] : [[name, granted === "read" ? "read" : level] as const];
    }),
  );

const badCredentials = (): ApiError => new ApiError(401, "Bad credentials");
export const installationSuspended = (): ApiError =>
  new ApiError(403, "This installation has been suspended");

function secretOf(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.trim() === "") return null;
  const match = /^(bearer|token|basic)\s+(\S+)\s*$/i.exec(authorization);
  if (match === null) throw badCredentials();
  const [, scheme = "", given = ""] = match;
  if (scheme.toLowerCase() !== "basic") return given;
  const [name = "", ...password] = Buffer.from(given, "base64").toString("utf8").split(":");
  const secret = password.join(":");
  return secret === "" || secret === "x-oauth-basic" ? name : secret;
}
