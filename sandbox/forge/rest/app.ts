import { createInstallationToken } from "../app-identity.ts";
import { grantedRepositories, setSuspended, uninstall } from "../actions/change-installation.ts";
import { redeemCode } from "../app-manifest.ts";
import { presentApp, presentInstallation } from "../present/installation.ts";
import { presentRepository, presentRepositoryFor } from "../present/repository.ts";
import type { AppRow, InstallationRow, Permissions } from "../rows.ts";
import { installationSuspended } from "../server/authenticate.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import { optionalFields, optionalList, optionalTexts } from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { permits } from "../server/access.ts";
import { created, noContent, ok, route, type RestCall } from "../server/route.ts";
import { isoSeconds } from "../git/commits.ts";
import { organizationOf } from "./repositories.ts";

export const appRoutes = [
  route("GET", "/app", "app", readApp),
  route("POST", "/app-manifests/{code}/conversions", "anyone", convertManifest),
  route("GET", "/app/installations", "app", list),
  route("GET", "/app/installations/{installation_id}", "app", readOne),
  route("DELETE", "/app/installations/{installation_id}", "app", remove),
  route("PUT", "/app/installations/{installation_id}/suspended", "app", suspend),
  route("DELETE", "/app/installations/{installation_id}/suspended", "app", unsuspend),
  route("POST", "/app/installations/{installation_id}/access_tokens", "app", createToken),
  route("GET", "/orgs/{org}/installation", "app", readOfOrganization),
  route("GET", "/users/{username}/installation", "app", readOfUser),
  route("GET", "/installation/repositories", "installation", listRepositories),
  route("DELETE", "/installation/token", "installation", revoke),
];

/** The lifetime of an installation token. */
const TOKEN_MS = 3_600_000;

export function appOf({ caller }: RestCall): AppRow {
  if (caller.kind !== "app") throw notFound();
  return caller.app;
}

function installationOf(call: RestCall): InstallationRow {
  const installation = call.forge.state.installations.get(Number(call.params["installation_id"]));
  if (installation?.appId !== appOf(call).id) throw notFound();
  return installation;
}

const botOf = (call: RestCall) => call.forge.state.accounts.need(appOf(call).botId);
const show = (call: RestCall, installation: InstallationRow) => presentInstallation(call.forge, installation);

function readApp(call: RestCall) {
  const { forge } = call;
  const app = appOf(call);
  return ok({ ...presentApp(forge, app), installations_count: forge.state.installations.all().length });
}

/** The App with its secrets, for the code that GitHub's manifest flow gave the browser. */
function convertManifest({ forge, params }: RestCall) {
  const app = redeemCode(forge, params["code"] ?? "");
  if (app === undefined) throw notFound();
  return created({
    ...presentApp(forge, app),
    client_secret: app.clientSecret,
    webhook_secret: app.webhookSecret,
    pem: app.privateKey,
  });
}

function list(call: RestCall) {
  return paged(call, call.forge.state.installations.all(), (each) => show(call, each));
}

function readOne(call: RestCall) {
  return ok(show(call, installationOf(call)));
}

function readOfOrganization(call: RestCall) {
  return readOfAccount(call, organizationOf(call).id);
}

function readOfUser(call: RestCall) {
  const [account] = call.forge.state.accounts.inGroup((call.params["username"] ?? "").toLowerCase());
  if (account === undefined) throw notFound();
  return readOfAccount(call, account.id);
}

function readOfAccount(call: RestCall, accountId: number) {
  const [installation] = call.forge.state.installations.inGroup(accountId);
  if (installation === undefined) throw notFound();
  return ok(show(call, installation));
}

function remove(call: RestCall) {
  uninstall(call.forge, installationOf(call), botOf(call));
  return noContent;
}

function suspend(call: RestCall) {
  setSuspended(call.forge, installationOf(call), botOf(call), true);
  return noContent;
}

function unsuspend(call: RestCall) {
  setSuspended(call.forge, installationOf(call), botOf(call), false);
  return noContent;
}

/** Creates a token for all repositories and permissions of the installation, or for fewer. */
function createToken(call: RestCall) {
  const { forge, fields } = call;
  const installation = installationOf(call);
  if (installation.suspendedAt !== null) throw installationSuspended();
  // A token keeps the permissions that it was created with.
  const permissions =
    narrowedPermissions(installation, optionalFields(fields, "permissions")) ?? installation.permissions;
  const repositoryIds = narrowedRepositories(call, installation);
  const expiresAt = isoSeconds(new Date(Date.parse(forge.now()) + TOKEN_MS));
  deleteExpired(call);
  const token = createInstallationToken(forge.state, installation, { permissions, repositoryIds, expiresAt });
  const granted = repositoryIds?.map((id) => presentRepository(forge, forge.state.repositories.need(id)));
  return created({
    token: token.token,
    expires_at: expiresAt,
    permissions,
    repository_selection: repositoryIds === null ? installation.repositorySelection : "selected",
    ...(granted === undefined ? {} : { repositories: granted }),
  });
}

/** Otherwise expired tokens accumulate. */
function deleteExpired({ forge }: RestCall): void {
  for (const token of forge.state.tokens.all())
    if (token.expiresAt !== null && token.expiresAt <= forge.now()) forge.state.tokens.delete(token.id);
}

function narrowedPermissions(
  installation: InstallationRow,
  requested: Readonly<Record<string, unknown>> | undefined,
): Permissions | null {
  if (requested === undefined || Object.keys(requested).length === 0) return null;
  for (const [name, level] of Object.entries(requested)) {
    const isKnown = level === "read" || level === "write";
    if (!isKnown || !permits(installation.permissions, `${name}:${level}`))
      throw unprocessable("The permissions requested are not granted to this installation.");
  }
  // Every token may read metadata.
  return { metadata: "read", ...(requested as Permissions) };
}

function narrowedRepositories(call: RestCall, installation: InstallationRow): readonly number[] | null {
  const { forge, fields } = call;
  const ids = optionalList(fields, "repository_ids");
  const names = optionalTexts(fields, "repositories");
  if (ids === undefined && names === undefined) return null;
  const granted = grantedRepositories(forge, installation);
  const chosen = granted.filter((each) => ids?.includes(each.id) || names?.includes(each.name));
  if (chosen.length < (ids?.length ?? 0) + (names?.length ?? 0))
    throw unprocessable(
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    );
  return chosen.map((each) => each.id);
}

function listRepositories(call: RestCall) {
  const { forge, caller } = call;
  if (caller.kind !== "installation") throw notFound();
  const narrowed = caller.token.repositoryIds;
  const granted = grantedRepositories(forge, caller.installation).filter(
    (each) => narrowed === null || narrowed.includes(each.id),
  );
  const repository_selection = narrowed === null ? caller.installation.repositorySelection : "selected";
  const wrap = (repositories: readonly unknown[]) => ({
    total_count: granted.length,
    repository_selection,
    repositories,
  });
  return paged(call, granted, (each) => presentRepositoryFor(forge, each, caller), wrap);
}

function revoke({ forge, caller }: RestCall) {
  if (caller.kind === "installation") forge.state.tokens.delete(caller.token.id);
  return noContent;
}
