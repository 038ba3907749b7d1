import { slugOf } from "../../flow/names.ts";
import { DEFAULT_FLOW } from "../../flow/flow.ts";
import type { RepositoryChanged } from "../../forge/events.ts";
import type { ForgeInstallation } from "../../forge/values.ts";
import { listBlockedCardsOfRepository } from "../../store/cards/blocked-cards.ts";
import { lockLinkedCards } from "../../store/cards/links.ts";
import { insertProject, listProjectsWithFlow } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import {
  readClock,
  removeInstallation,
  removeOtherInstallations,
  saveGrantedRepositories,
  saveInstallation,
  detachFromOtherOrganizations,
} from "../../store/forge/installations.ts";
import {
  findRepositoryByForgeId,
  listProjectRepositories,
  setLinkedByDefault,
} from "../../store/forge/repositories.ts";
import { invalidateTips } from "../../store/forge/trunks.ts";
import { takeDeferredComparison } from "../../store/ops/reconciling.ts";
import { insertWorkspace, listWorkspacesOfOrganization } from "../../store/tenancy/workspaces.ts";
import { copyFlow } from "../boards/projects.ts";
import { unlinkUnmerged } from "../cards/relink-card.ts";
import type { Deps } from "../deps.ts";
import { recheckForbidden } from "../../store/cards/schedule-rechecks.ts";
import { forgeActor } from "../members/forge-accounts.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** Syncs one account's organization, board and repositories with its installation on GitHub. */
export async function syncInstallation(deps: Deps, installationId: number): Promise<void> {
  const askedAt = await readClock(deps.db);
  const installation = await deps.forge.installation(installationId);
  if (installation) await storeInstallation(deps, installation, askedAt);
  else await removeInstallation(deps.db, installationId, askedAt);
}

/**
 * Syncs all accounts with GitHub's list of installations, which may have changed while Trunkline
 * was down. A new account gets a board with one project and the default flow. An account that
 * cannot be read does not stop the others.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const askedAt = await readClock(deps.db);
  const installations = await deps.forge.installations();
  const failures: unknown[] = [];
  for (const installation of installations) {
    await storeInstallation(deps, installation, askedAt).catch((error: unknown) => {
      deps.log.error({ err: error, ...installation }, "an installation could not be synced");
      failures.push(error);
    });
  }
  await removeOtherInstallations(
    deps.db,
    installations.map(({ installationId }) => installationId),
    askedAt,
  );
  if (failures.length > 0) throw failures[0];
}

/** Stores an installation as GitHub showed it at `askedAt`. */
export async function storeInstallation(
  deps: Deps,
  installation: ForgeInstallation,
  askedAt: string,
): Promise<void> {
  const response = installation.suspended ? null : await deps.forge.repositories(installation.installationId);
  const refused = response?.ok === false ? response.refusal.message : null;
  const granted = response?.ok === true ? response.value : null;
  await transaction(deps.db, async (trx) => {
    const saved = await saveInstallation(trx, deps.newId(), { ...installation, refused, askedAt });
    if (!saved) return;
    const projectId = await projectForNew(deps, trx, saved.id, installation.account.login);
    // GitHub does not show what a suspended or refused account grants.
    if (!granted) return;
    const minAgeMs = await takeDeferredComparison(trx, saved.id);
    if (minAgeMs !== null) await schedule(trx, JOBS.reconcile, { organizationId: saved.id, minAgeMs });
    const forgeIds = granted.map(({ forgeId }) => forgeId);
    await unlinkTransferred(deps, trx, await detachFromOtherOrganizations(trx, saved.id, forgeIds, askedAt));
    const withIds = granted.map((repository) => ({ ...repository, newId: deps.newId() }));
    const { added, isAnyBack } = await saveGrantedRepositories(trx, saved.id, projectId, withIds, askedAt);
    if (projectId) await linkOnlyRepository(trx, projectId, added);
    if (!saved.hasMoreAccess && !isAnyBack) return;
    await deps.forge.forgetToken(installation.installationId);
    await recheckForbidden(trx, saved.id);
    await schedule(trx, JOBS.followAllTrunks, { installationId: installation.installationId });
  });
}

/**
 * The project that gets new repositories: the account's only one, or a new one for a new account.
 * Null if there are several.
 */
async function projectForNew(
  deps: Deps,
  trx: Trx,
  organizationId: string,
  login: string,
): Promise<string | null> {
  const workspaces = await listWorkspacesOfOrganization(trx, organizationId);
  const [workspace] = workspaces;
  if (workspace) {
    const projects = await listProjectsWithFlow(trx, workspace);
    return workspaces.length === 1 && projects.length === 1 ? (projects[0]?.id ?? null) : null;
  }
  const workspaceId = deps.newId();
  const slug = slugOf(login) || "board";
  await insertWorkspace(trx, { id: workspaceId, organizationId, name: login, slug });
  const projectId = deps.newId();
  const flow = copyFlow(deps, DEFAULT_FLOW);
  await insertProject(trx, { id: projectId, workspaceId, name: login, slug, flow });
  return projectId;
}

/** Links new cards to a project's only repository if it was just added. */
async function linkOnlyRepository(trx: Trx, projectId: string, added: readonly string[]): Promise<void> {
  const repositories = await listProjectRepositories(trx, projectId);
  const [only] = repositories;
  if (only && repositories.length === 1 && added.includes(only.id))
    await setLinkedByDefault(trx, projectId, [only.id]);
}

/** Unlinks cards from repositories that were transferred to another account. */
async function unlinkTransferred(deps: Deps, trx: Trx, repositoryIds: readonly string[]): Promise<void> {
  if (repositoryIds.length === 0) return;
  const { userId } = await forgeActor(deps, trx, null);
  await unlinkUnmerged(trx, userId, await lockLinkedCards(trx, repositoryIds));
}

/** Syncs the account of a repository that was renamed, transferred, changed or deleted. */
export async function handleRepositoryChange(deps: Deps, event: RepositoryChanged): Promise<void> {
  const { db } = deps;
  if (event.installationId === null) return;
  await syncInstallation(deps, event.installationId);
  const repository = await findRepositoryByForgeId(db, event.repository.forgeId);
  if (repository?.installationId !== event.installationId) return;
  // Stale tips make the next move inspect the repository, which may be archived.
  await invalidateTips(db, repository.id);
  for (const cardId of await listBlockedCardsOfRepository(db, repository.id))
    await schedule(db, JOBS.recheckBlocked, { cardId });
}
