import type { ForgeContext } from "../context.ts";
import { presentAccount, presentOrganizationSimple } from "../present/account.ts";
import { presentInstallationId } from "../present/installation.ts";
import { presentRepository } from "../present/repository.ts";
import type { AccountRow, InstallationRow, RepositoryRow } from "../rows.ts";
import { installationOf } from "../server/access.ts";

/** Events every App gets without asking. */
const DEFAULT_EVENTS = new Set(["installation", "installation_repositories", "installation_target"]);

export interface RepositoryEvent {
  readonly event: string;
  readonly action: string | null;
  readonly repository: RepositoryRow;
  readonly sender: AccountRow;
  /** What the payload holds besides sender, repository, organization and installation. Not called when nobody listens. */
  readonly payload: () => object | Promise<object>;
}

/** Tells the App about something that happened in a repository, if it is installed there and wants to know. */
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

/** Tells the App about its own installation. */
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
