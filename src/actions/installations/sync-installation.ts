import { slugOf } from "../../flow/names.ts";
import { DEFAULT_FLOW } from "../../flow/flow.ts";
import type { RepositoryChanged } from "../../forge/events.ts";
import type { ForgeInstallation } from "../../forge/values.ts";
import { listBlockedCards } from "../../store/cards/blocked-cards.ts";
import { holdLinkedCards, removeLinks } from "../../store/cards/links.ts";
import { insertProject, listProjectsWithFlow } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import {
  clockOf,
  forgetInstallation,
  forgetOtherInstallations,
  saveGrantedRepositories,
  saveInstallation,
  takeFromOthers,
} from "../../store/forge/installations.ts";
import {
  findRepositoryByForgeId,
  listProjectRepositories,
  setLinkedByDefault,
} from "../../store/forge/repositories.ts";
import { doubtTips } from "../../store/forge/trunks.ts";
import { takeOwedComparison } from "../../store/ops/reconciling.ts";
import { insertWorkspace, listWorkspacesOfOrganization } from "../../store/tenancy/workspaces.ts";
import { freshFlow } from "../boards/projects.ts";
import { unlinked } from "../cards/relink-card.ts";
import type { Deps } from "../deps.ts";
import { followTrunksLater } from "../reconcile/follow-trunk.ts";
import { recheckForbidden, recheckIfBlocked, recheckSoon } from "../reconcile/recheck-blocked.ts";
import { reconcileLater } from "../reconcile/reconcile-later.ts";
import { forgeActor } from "./forge-accounts.ts";

/** Makes one account's organization, board and repositories follow its installation on the forge. */
export async function syncInstallation(deps: Deps, installationId: number): Promise<void> {
  const askedAt = await clockOf(deps.db);
  const installation = await deps.forge.installation(installationId);
  if (installation) await follow(deps, installation, askedAt);
  else await forgetInstallation(deps.db, installationId, askedAt);
}

/**
 * Makes organizations, boards and repositories follow the forge's list of installations, so that an
 * App installed, changed or removed while Trunkline was away is seen. A new account gets a board
 * with one project on the default flow. One account that cannot be read does not keep the others
 * waiting.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const askedAt = await clockOf(deps.db);
  const installations = await deps.forge.installations();
  const failures: unknown[] = [];
  for (const installation of installations) {
    await follow(deps, installation, askedAt).catch((error: unknown) => {
      deps.log.error({ err: error, ...installation }, "an installation could not be followed");
      failures.push(error);
    });
  }
  await forgetOtherInstallations(
    deps.db,
    installations.map(({ installationId }) => installationId),
    askedAt,
  );
  if (failures.length > 0) throw failures[0];
}

/** Follows an installation as the forge showed it when it was asked at `askedAt`. */
export async function follow(deps: Deps, installation: ForgeInstallation, askedAt: string): Promise<void> {
  const asked = installation.suspended ? null : await deps.forge.repositories(installation.installationId);
  const refused = asked?.ok === false ? asked.refusal.message : null;
  const granted = asked?.ok === true ? asked.value : null;
  await transaction(deps.db, async (trx) => {
    const saved = await saveInstallation(trx, deps.newId(), { ...installation, refused, askedAt });
    if (!saved) return;
    const projectId = await firstProjectOf(deps, trx, saved.id, installation.account.login);
    // What a suspended account grants is not known, and comes back with it.
    if (!granted) return;
    const quietMs = await takeOwedComparison(trx, saved.id);
    if (quietMs !== null) await reconcileLater(trx, saved.id, quietMs, 0);
    const forgeIds = granted.map(({ forgeId }) => forgeId);
    await unlinkAll(deps, trx, await takeFromOthers(trx, saved.id, forgeIds, askedAt));
    const withIds = granted.map((repository) => ({ ...repository, newId: deps.newId() }));
    const { added, isAnyBack } = await saveGrantedRepositories(trx, saved.id, projectId, withIds, askedAt);
    if (projectId) await linkTheOnlyOne(trx, projectId, added);
    if (!saved.isBetter && !isAnyBack) return;
    await recheckForbidden(trx, saved.id);
    await followTrunksLater(trx, installation.installationId, 0);
  });
}

/**
 * The project new repositories of an account go to: the one that is made on first sight, or the only one there is; null
 * when somebody has to choose.
 */
async function firstProjectOf(
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
  const flow = freshFlow(deps, DEFAULT_FLOW);
  await insertProject(trx, { id: projectId, workspaceId, name: login, slug, flow });
  return projectId;
}

/** With a single repository there is nothing to choose: cards are linked to it, unless somebody has said otherwise since it was added. */
async function linkTheOnlyOne(trx: Trx, projectId: string, added: readonly string[]): Promise<void> {
  const repositories = await listProjectRepositories(trx, projectId);
  const [only] = repositories;
  if (only && repositories.length === 1 && added.includes(only.id))
    await setLinkedByDefault(trx, projectId, [only.id]);
}

/** Cards whose repository went to another account have no more to do with it than what was merged there. */
async function unlinkAll(deps: Deps, trx: Trx, repositoryIds: readonly string[]): Promise<void> {
  if (repositoryIds.length === 0) return;
  const { userId } = await forgeActor(deps, trx, null);
  const actor = { userId, login: null };
  for (const { cardId, repositoryId, branchName, hasMerged } of await holdLinkedCards(trx, repositoryIds)) {
    if (hasMerged) continue;
    await removeLinks(trx, cardId, [repositoryId]);
    await recordEvents(trx, [unlinked(cardId, actor, repositoryId, branchName)]);
    await recheckIfBlocked(trx, cardId);
  }
}

/**
 * Follows a repository to its new name, default branch or owner, or to its end: what the account's
 * installation grants is read again. What blocked cards there may be gone.
 */
export async function handleRepositoryChange(deps: Deps, event: RepositoryChanged): Promise<void> {
  const { db } = deps;
  if (event.installationId === null) return;
  await syncInstallation(deps, event.installationId);
  const repository = await findRepositoryByForgeId(db, event.repository.forgeId);
  if (repository?.installationId !== event.installationId) return;
  // An archived one refuses everything: an inspection shows that before anything is done elsewhere.
  await doubtTips(db, repository.id);
  for (const cardId of await listBlockedCards(db, repository.id)) await recheckSoon(db, cardId);
}
