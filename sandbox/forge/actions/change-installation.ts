import type { ForgeContext } from "../context.ts";
import { presentInstallation } from "../present/installation.ts";
import type { AccountRow, InstallationRow, Permissions, RepositoryRow } from "../rows.ts";
import { covers } from "../server/access.ts";
import { emitInstallation, emitInstallationRepositories, presentGranted } from "../webhooks/emit.ts";
import { installApp } from "../world.ts";

export const grantedRepositories = (forge: ForgeContext, installation: InstallationRow): RepositoryRow[] =>
  forge.state.repositories.all().filter((each) => covers(installation, each));

function emitChange(forge: ForgeContext, row: InstallationRow, action: string, by: AccountRow): void {
  const repositories = grantedRepositories(forge, row).map((each) => presentGranted(forge, each));
  emitInstallation(forge, row, "installation", action, by, {
    installation: presentInstallation(forge, row),
    repositories,
    requester: null,
  });
}

/** Installs the App on an account; `repositories` are names. */
export function install(
  forge: ForgeContext,
  account: AccountRow,
  repositories: readonly string[] | "all",
  by: AccountRow,
): InstallationRow {
  const row = installApp(forge, account, repositories);
  emitChange(forge, row, "created", by);
  return row;
}

export function uninstall(forge: ForgeContext, installation: InstallationRow, by: AccountRow): void {
  emitChange(forge, installation, "deleted", by);
  for (const token of forge.state.tokens.all())
    if (token.installationId === installation.id) forge.state.tokens.delete(token.id);
  forge.state.installations.delete(installation.id);
}

export function setSuspended(
  forge: ForgeContext,
  installation: InstallationRow,
  by: AccountRow,
  suspended: boolean,
): InstallationRow {
  const row = forge.state.installations.update(installation.id, {
    suspendedAt: suspended ? forge.now() : null,
    suspendedById: suspended ? by.id : null,
    updatedAt: forge.now(),
  });
  emitChange(forge, row, suspended ? "suspend" : "unsuspend", by);
  return row;
}

/** Replaces the permissions of an installation, as its account's owner does on GitHub. */
export function acceptPermissions(
  forge: ForgeContext,
  installation: InstallationRow,
  by: AccountRow,
  permissions: Permissions,
): InstallationRow {
  const row = forge.state.installations.update(installation.id, { permissions, updatedAt: forge.now() });
  emitChange(forge, row, "new_permissions_accepted", by);
  return row;
}

/** Adds repositories to an installation or removes them. */
export function setGranted(
  forge: ForgeContext,
  installation: InstallationRow,
  by: AccountRow,
  repositories: readonly RepositoryRow[],
  granted: boolean,
): InstallationRow {
  const ids = new Set(repositories.map((each) => each.id));
  const current = grantedRepositories(forge, installation).map((each) => each.id);
  const others = current.filter((id) => !ids.has(id));
  const row = forge.state.installations.update(installation.id, {
    repositorySelection: "selected",
    repositoryIds: granted ? [...others, ...ids] : others,
    updatedAt: forge.now(),
  });
  emitInstallationRepositories(forge, row, granted ? "added" : "removed", by, repositories);
  return row;
}
