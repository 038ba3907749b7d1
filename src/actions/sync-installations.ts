import { DEFAULT_FLOW } from "../flow/flow.ts";
import { slugOf } from "../flow/branch-name.ts";
import type { ForgeInstallation } from "../forge/forge.ts";
import {
  listProjectRepositories,
  saveGrantedRepositories,
  setLinkedByDefault,
} from "../store/repositories.ts";
import { insertProject, listProjectsWithFlow } from "../store/projects.ts";
import type { Trx } from "../store/connect.ts";
import {
  forgetOtherInstallations,
  insertWorkspace,
  listWorkspacesOfOrganization,
  saveOrganization,
} from "../store/workspaces.ts";
import type { Deps } from "./deps.ts";
import { freshFlow } from "./fresh-flow.ts";

/**
 * Makes organizations, boards and repositories follow the forge's list of installations, so that an App installed, changed or
 * removed while Trunkline was away is seen. A new account gets a board with one project on the default flow.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const installations = await deps.forge.installations();
  for (const installation of installations) await syncInstallation(deps, installation);
  await forgetOtherInstallations(
    deps.db,
    installations.map(({ installationId }) => installationId),
  );
}

async function syncInstallation(deps: Deps, installation: ForgeInstallation): Promise<void> {
  const { installationId, account, suspended } = installation;
  const granted = suspended ? null : await deps.forge.repositories(installationId);
  await deps.db.transaction(async (trx) => {
    const { id: organizationId } = await saveOrganization(trx, deps.newId(), {
      slug: account.login,
      forgeAccountId: account.forgeId,
      installationId,
      suspended,
    });
    const projectId = await firstProjectOf(deps, trx, organizationId, account.login);
    if (!granted) return;
    const withIds = granted.map((repository) => ({ ...repository, newId: deps.newId() }));
    const added = await saveGrantedRepositories(trx, organizationId, projectId, withIds);
    if (projectId) await linkTheOnlyOne(trx, projectId, added);
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
