import type { ForgeRepository, RepositoryRef } from "../forge/forge.ts";
import { firstRow, rows, type Db, type Trx } from "./connect.ts";

export interface Repository {
  readonly id: string;
  readonly projectId: string | null;
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly linkByDefault: boolean;
  readonly connected: boolean;
  /** How the forge is asked about it; null while the installation is gone. */
  readonly ref: RepositoryRef | null;
}

const REPOSITORY = `
  select r.id, r.project_id as "projectId", r.full_name as "fullName", r.default_branch as "defaultBranch",
         r.link_by_default as "linkByDefault", r.connected,
         case when o.installation_id is null then null else
           json_build_object('installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name)
         end as ref
    from repositories r join organizations o on o.id = r.organization_id`;

/** The repositories of a project, by name. */
export async function listProjectRepositories(db: Db, projectId: string): Promise<Repository[]> {
  return rows<Repository>(db, `${REPOSITORY} where r.project_id = :projectId order by r.full_name`, {
    projectId,
  });
}

/**
 * The repositories a board may use, by name: those of its projects, and those the installation grants that no project has. One that a
 * project of another board has is not among them.
 */
export async function listBoardRepositories(db: Db, workspaceId: string): Promise<Repository[]> {
  return rows<Repository>(
    db,
    `${REPOSITORY} join workspaces w on w.organization_id = r.organization_id
       left join projects p on p.id = r.project_id
      where w.id = :workspaceId and (p.workspace_id = w.id or (r.project_id is null and r.connected))
      order by r.full_name`,
    { workspaceId },
  );
}

/** Holds these repositories until the transaction ends: no project takes them or lets go of them meanwhile. */
export async function holdRepositories(trx: Trx, repositoryIds: readonly string[]): Promise<void> {
  await trx.raw("select 1 from repositories where id = any(?) order by forge_id for no key update", [
    [...repositoryIds],
  ]);
}

/** Makes these the repositories of a project, all of them and no others. */
export async function saveProjectRepositories(
  trx: Trx,
  projectId: string,
  chosen: readonly { readonly id: string; readonly linkByDefault: boolean }[],
): Promise<void> {
  const ids = chosen.map(({ id }) => id);
  await trx("repositories")
    .where({ project_id: projectId })
    .whereNotIn("id", ids)
    .update({ project_id: null, link_by_default: false });
  await trx("repositories").whereIn("id", ids).update({ project_id: projectId });
  const byDefault = chosen.filter(({ linkByDefault }) => linkByDefault);
  await setLinkedByDefault(
    trx,
    projectId,
    byDefault.map(({ id }) => id),
  );
}

/** The repository with this forge id, or null when no organization of ours has it. */
export async function findRepositoryByForgeId(db: Db, forgeId: number): Promise<Repository | null> {
  return firstRow<Repository>(db, `${REPOSITORY} where r.forge_id = :forgeId`, { forgeId });
}

/** Follows a rename or a new default branch. */
export async function updateRepositoryNames(
  db: Db,
  repositoryId: string,
  now: { fullName: string; defaultBranch: string },
): Promise<void> {
  await db("repositories")
    .where({ id: repositoryId })
    .update({ full_name: now.fullName, default_branch: now.defaultBranch });
}

/**
 * Makes the organization's repositories what the installation grants: new ones are added to `projectId`, known ones brought up
 * to date, the others marked as no longer connected. Gives the ids of the new ones.
 */
export async function saveGrantedRepositories(
  db: Db,
  organizationId: string,
  projectId: string | null,
  granted: readonly (ForgeRepository & { readonly newId: string })[],
): Promise<string[]> {
  const added: string[] = [];
  for (const repository of granted.toSorted((a, b) => a.forgeId - b.forgeId)) {
    const saved = await firstRow<{ id: string }>(
      db,
      `insert into repositories (id, organization_id, project_id, forge_id, full_name, default_branch)
       values (:newId, :organizationId, :projectId, :forgeId, :fullName, :defaultBranch)
       on conflict (forge_id) do update
         set organization_id = excluded.organization_id, full_name = excluded.full_name,
             default_branch = excluded.default_branch, connected = true
       returning id`,
      { organizationId, projectId, ...repository },
    );
    if (saved?.id === repository.newId) added.push(saved.id);
  }
  await db("repositories")
    .where({ organization_id: organizationId, connected: true })
    .whereNotIn(
      "forge_id",
      granted.map((repository) => repository.forgeId),
    )
    .update({ connected: false });
  return added;
}

/** Chooses which of a project's repositories a card is linked to when it names none. */
export async function setLinkedByDefault(
  db: Db,
  projectId: string,
  repositoryIds: readonly string[],
): Promise<void> {
  await db("repositories")
    .where({ project_id: projectId })
    .update({ link_by_default: db.raw("id = any(?)", [[...repositoryIds]]) });
}
