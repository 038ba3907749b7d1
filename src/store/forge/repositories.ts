import { BROKEN_KINDS, BROKEN_WORDS, type Broken } from "../../flow/refusal.ts";
import type { Feature, RepositoryRef } from "../../forge/values.ts";
import { firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";

const OUT_OF_REACH = `
  case when o.installation_id is null then 'uninstalled' when o.suspended then 'suspended'
       when o.refused is not null then 'refused' when not r.connected then 'not_granted' end`;

/** Why a repository `r` of the organization `o` cannot be used, in SQL; null while it can. */
export const BROKEN = `coalesce(${OUT_OF_REACH}, case when r.archived then 'archived' end)`;

/** How long a noted lack counts: plans and server versions change. */
const LACK_LASTS = "interval '1 hour'";

/**
 * The `RepositoryRef` of a repository `r` of the organization `o`, in SQL; null while the forge must
 * not be asked about it. An archived repository can be read, and the read shows when it no longer is.
 */
export const REF = `
  case when ${OUT_OF_REACH} is null then json_build_object(
    'installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name, 'nodeId', r.node_id,
    'lacks', array_remove(array[
      case when r.lacks_drafts_at > now() - ${LACK_LASTS} then 'drafts' end,
      case when r.lacks_async_merge_at > now() - ${LACK_LASTS} then 'async_merge' end], null)) end`;

/** Whether a link `cr` may be acted on, in SQL: its repository still belongs to the card's project. */
export const IS_USABLE = "cr.project_id is not null";

/** Whether the card with this id has a usable link to a repository, in SQL. */
export const hasUsableLink = (cardId: string, repositoryId: string): string => `
  exists (select 1 from card_repositories usable
           where usable.card_id = ${cardId} and usable.repository_id = ${repositoryId}
             and usable.project_id is not null)`;

/** What is wrong with a connection, in SQL: the words for what `broken`, itself SQL, comes to. */
export const brokenWords = (broken: string): string => {
  const cases = BROKEN_KINDS.map(
    (name) => `when '${name}' then '${BROKEN_WORDS[name].replaceAll("'", "''")}'`,
  );
  return `case ${broken} ${cases.join(" ")} end`;
};

export interface Repository {
  readonly id: string;
  readonly projectId: string | null;
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly linkByDefault: boolean;
  readonly connected: boolean;
  /** The installation of its account, whether or not it can be used; null while the App is not installed there. */
  readonly installationId: number | null;
  /** Why nothing may be done there; null while something may. */
  readonly broken: Broken | null;
  /** How the forge is asked about it; null while it is out of reach. */
  readonly ref: RepositoryRef | null;
}

/** A repository with how well it is connected to the forge. */
export interface ConnectedRepository extends Repository {
  readonly lastWebhookAt: Date | null;
  readonly lastReconciledAt: Date | null;
  readonly missingPermissions: readonly string[];
}

const COLUMNS = `
         r.id, r.project_id as "projectId", r.full_name as "fullName", r.default_branch as "defaultBranch",
         r.link_by_default as "linkByDefault", r.connected, o.installation_id as "installationId", ${BROKEN} as broken,
         ${REF} as ref`;
const REPOSITORY = `select ${COLUMNS} from repositories r join organizations o on o.id = r.organization_id`;
const CONNECTED_REPOSITORY = `
  select ${COLUMNS}, r.last_webhook_at as "lastWebhookAt", r.last_reconciled_at as "lastReconciledAt",
         o.missing_permissions as "missingPermissions"
    from repositories r join organizations o on o.id = r.organization_id`;

/**
 * The same of `r` and `o` as a JSON object, in SQL, for a card's link. `isUsable` is SQL that is false after the
 * repository left the card's project: then nothing may be done there.
 */
export const linkedRepositoryJson = (isUsable: string): string => `
  json_build_object('id', r.id, 'projectId', r.project_id, 'fullName', r.full_name, 'defaultBranch', r.default_branch,
                    'linkByDefault', r.link_by_default, 'connected', r.connected,
                    'installationId', o.installation_id,
                    'broken', case when ${isUsable} then ${BROKEN} else 'other_project' end,
                    'ref', case when ${isUsable} then ${REF} end)`;

/** The repositories of a project, by name. */
export async function listProjectRepositories(db: Db, projectId: string): Promise<ConnectedRepository[]> {
  return rows<ConnectedRepository>(
    db,
    `${CONNECTED_REPOSITORY} where r.project_id = :projectId order by r.full_name`,
    {
      projectId,
    },
  );
}

const LACK_COLUMNS = { drafts: "lacks_drafts_at", async_merge: "lacks_async_merge_at" } as const;

/** Remembers for all processes that a repository lacks something, or that it does not. */
export async function noteLacking(db: Db, forgeId: number, what: Feature, isLacking: boolean): Promise<void> {
  const column = LACK_COLUMNS[what];
  const known = db("repositories").where({ forge_id: forgeId });
  if (isLacking) await known.update({ [column]: db.fn.now() });
  else await known.whereNotNull(column).update({ [column]: null });
}

/** The repository with this id, or null. */
export async function findRepository(db: Db, repositoryId: string): Promise<Repository | null> {
  return firstRow<Repository>(db, `${REPOSITORY} where r.id = :repositoryId`, { repositoryId });
}

/**
 * The repositories a board may use, by name: those of its projects, and those the installation grants that no project has. One that a
 * project of another board has is not among them.
 */
export async function listBoardRepositories(db: Db, workspaceId: string): Promise<ConnectedRepository[]> {
  return rows<ConnectedRepository>(
    db,
    `${CONNECTED_REPOSITORY} join workspaces w on w.organization_id = r.organization_id
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

/** The forge's id of a repository; null where it is nobody's any more. */
export async function forgeIdOf(db: Db, repositoryId: string): Promise<number | null> {
  return firstValue<number>(db, `select forge_id as "forgeId" from repositories where id = :repositoryId`, {
    repositoryId,
  });
}

/** Notes when the forge last told of a repository by itself. */
export async function noteWebhook(db: Db, forgeId: number, at: Date): Promise<void> {
  await db("repositories")
    .where({ forge_id: forgeId })
    .whereRaw("(last_webhook_at is null or last_webhook_at < ?)", [at])
    .update({ last_webhook_at: at });
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
