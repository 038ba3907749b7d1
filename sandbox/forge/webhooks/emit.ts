import type { ForgeContext } from "../context.ts";
import { presentAccount, presentOrganizationSimple } from "../present/account.ts";
import { presentInstallation, presentInstallationId } from "../present/installation.ts";
import { fullNameOf, presentRepository, repositoryNodeId } from "../present/repository.ts";
import type { AccountRow, InstallationRow, RepositoryRow } from "../rows.ts";
import { installationOf } from "../server/access.ts";

/** Events that every App receives without a subscription. */
const DEFAULT_EVENTS = new Set(["installation", "installation_repositories"]);

interface RepositoryEvent {
  readonly event: string;
  readonly action: string | null;
  readonly repository: RepositoryRow;
  readonly sender: AccountRow;
  /** The event's own fields of the payload; not called if no App is subscribed. */
  readonly payload: () => object | Promise<object>;
}

/** Sends a repository's event to the App if it is installed there and subscribed to the event. */
export async function emit(forge: ForgeContext, given: RepositoryEvent): Promise<void> {
  const installation = installationOf(forge, given.repository);
  if (installation === undefined || !isSubscribed(forge, installation, given.event)) return;
  const owner = forge.state.accounts.need(given.repository.ownerId);
  const own = await given.payload();
  forge.webhooks.enqueue({
    event: given.event,
    action: given.action,
    installationId: installation.id,
    repositoryId: given.repository.id,
    payload: {
      ...(given.action === null ? {} : { action: given.action }),
      repository: presentRepository(forge, given.repository),
      ...own,
      ...(owner.type === "Organization" ? { organization: presentOrganizationSimple(forge, owner) } : {}),
      sender: presentAccount(forge, given.sender),
      installation: presentInstallationId(installation),
    },
  });
}

/** A repository in the payload of installation events. */
export const presentGranted = (forge: ForgeContext, repository: RepositoryRow) => ({
  id: repository.id,
  node_id: repositoryNodeId(repository),
  name: repository.name,
  full_name: fullNameOf(forge, repository),
  private: repository.private,
});

export function emitInstallationRepositories(
  forge: ForgeContext,
  installation: InstallationRow,
  action: "added" | "removed",
  sender: AccountRow,
  repositories: readonly RepositoryRow[],
): void {
  const listed = repositories.map((each) => presentGranted(forge, each));
  emitInstallation(forge, installation, "installation_repositories", action, sender, {
    installation: presentInstallation(forge, installation),
    repository_selection: installation.repositorySelection,
    repositories_added: action === "added" ? listed : [],
    repositories_removed: action === "removed" ? listed : [],
    requester: null,
  });
}

export function emitInstallation(
  forge: ForgeContext,
  installation: InstallationRow,
  event: "installation" | "installation_repositories",
  action: string,
  sender: AccountRow,
  payload: object,
): void {
  if (forge.webhooks.url === null) return;
  forge.webhooks.enqueue({
    event,
    action,
    installationId: installation.id,
    repositoryId: null,
    payload: { action, ...payload, sender: presentAccount(forge, sender) },
  });
}

function isSubscribed(forge: ForgeContext, installation: InstallationRow, event: string): boolean {
  if (forge.webhooks.url === null || installation.suspendedAt !== null) return false;
  return DEFAULT_EVENTS.has(event) || installation.events.includes(event);
}
