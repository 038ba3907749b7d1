import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { AppRow, InstallationRow } from "../rows.ts";
import { htmlUrl, presentAccountById, presentAccountOrNull } from "./account.ts";

export function presentApp(forge: ForgeContext, app: AppRow) {
  return {
    id: app.id,
    client_id: app.clientId,
    slug: app.slug,
    node_id: nodeId(NODE_PREFIXES.app, app.id),
    owner: presentAccountById(forge, app.ownerId),
    name: app.name,
    description: null,
    external_url: htmlUrl(forge, "apps", app.slug),
    html_url: htmlUrl(forge, "apps", app.slug),
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
  };
}

/** The App of a check or comment. GitHub's description of it does not have all events. */
export function presentAppById(forge: ForgeContext, id: number) {
  const app = presentApp(forge, forge.state.apps.need(id));
  return { ...app, events: app.events.filter((event) => event !== "installation_target") };
}

export function presentInstallation(forge: ForgeContext, installation: InstallationRow) {
  const app = forge.state.apps.need(installation.appId);
  const account = forge.state.accounts.need(installation.accountId);
  const page =
    account.type === "Organization"
      ? ["organizations", account.login, "settings", "installations", installation.id]
      : ["settings", "installations", installation.id];
  return {
    id: installation.id,
    client_id: app.clientId,
    account: presentAccountById(forge, account.id),
    repository_selection: installation.repositorySelection,
    access_tokens_url: `${forge.urls.api}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${forge.urls.api}/installation/repositories`,
    html_url: htmlUrl(forge, ...page),
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: installation.events,
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: presentAccountOrNull(forge, installation.suspendedById),
    suspended_at: installation.suspendedAt,
  };
}

/** The installation in webhooks. */
export const presentInstallationId = (installation: InstallationRow) => ({
  id: installation.id,
  node_id: Buffer.from(`023:IntegrationInstallation${installation.id}`).toString("base64"),
});
