import type { RepositoryChanged } from "../forge/events.ts";
import { listBlockedCards } from "../store/cards/blocked-cards.ts";
import { findRepositoryByForgeId } from "../store/forge/repositories.ts";
import { doubtTips } from "../store/forge/trunks.ts";
import type { Deps } from "./deps.ts";
import { recheckSoon } from "./recheck-blocked.ts";
import { syncInstallation } from "./sync-installation.ts";

/**
 * Follows a repository to its new name, default branch or owner, or to its end: what the account's installation grants is read again. What
 * stood in the way of cards there may be gone.
 */
export async function recordRepository(deps: Deps, event: RepositoryChanged): Promise<void> {
  if (event.installationId === null) return;
  await syncInstallation(deps, event.installationId);
  const repository = await findRepositoryByForgeId(deps.db, event.repository.forgeId);
  if (repository?.installationId !== event.installationId) return;
  // An archived one refuses everything: a look tells so before anything is done elsewhere.
  await doubtTips(deps.db, repository.id);
  for (const cardId of await listBlockedCards(deps.db, repository.id)) await recheckSoon(deps.db, cardId);
}
