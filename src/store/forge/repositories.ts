import { CONNECTION_FAULTS, CONNECTION_MESSAGES, type ConnectionFault } from "../../flow/refusal.ts";
import type { RepositoryFeature, RepositoryRef, UnavailableReason } from "../../forge/values.ts";
import { exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { limitsSql } from "./forge-limits.ts";

/** SQL for why GitHub must not be called about the repository `r` of the organization `o`, or null. */
export const INACCESSIBLE = `
  case when o.installation_id is null then 'uninstalled' when o.suspended then 'suspended'
       when o.refused is not null then 'refused' when not r.connected then 'not_granted' end`;

/** SQL for why Trunkline cannot use the repository `r` of the organization `o`, or null. */
export const BROKEN = `coalesce(${INACCESSIBLE}, case when r.archived then 'archived' end)`;

/** A missing feature is tried again after this time, because plans and server versions change. */
const LACK_LASTS = "interval '1 hour'";

/**
 * SQL for the `RepositoryRef` of the repository `r` of the organization `o`; null while GitHub must
 * not be called about it. Archived repositories are read, because they may be unarchived.
 */
export const REF = `
  case when ${INACCESSIBLE} is null then json_build_object(
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

/** SQL for the message of the value of `broken`, which is SQL itself. */
export const brokenMessageSql = (broken: string): string => {
  const cases = CONNECTION_FAULTS.map(
    (name) => `when '${name}' then '${CONNECTION_MESSAGES[name].replaceAll("'", "''")}'`,
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
  /** Null while the App is not installed. Set even if the installation is unusable. */
  readonly installationId: number | null;
  /** Why Trunkline cannot use it, or null. */
  readonly broken: ConnectionFault | null;
  /** Null while GitHub must not be called about it. */
  readonly forgeRef: RepositoryRef | null;
}

export interface ConnectedRepository extends Repository {
  readonly lastWebhookAt: Date | null;
  readonly lastReconciledAt: Date | null;
  readonly missingPermissions: readonly string[];
  /** Why GitHub did not respond to a call lately, and until when that is shown. */
  readonly unavailable: { readonly reason: UnavailableReason; readonly until: string } | null;
}

const COLUMNS = `
         r.id, r.project_id as "projectId", r.full_name as "fullName", r.default_branch as "defaultBranch",
         r.link_by_default as "linkByDefault", r.connected, o.installation_id as "installationId", ${BROKEN} as broken,
         ${REF} as "forgeRef"`;
const REPOSITORY = `select ${COLUMNS} from repositories r join organizations o on o.id = r.organization_id`;
const unavailableJson = (reason: string, until: string): string => `
  json_build_object('reason', ${reason},
                    'until', to_char(${until} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
/**
 * SQL for why GitHub is not called or did not respond lately for the organization `o`, or null. A
 * limit of its requests comes first.
 */
export const UNAVAILABLE = `
  coalesce((select ${unavailableJson("'rate_limit'", "l.limited_until")} from forge_limits l where ${limitsSql("o")}),
           case when o.unavailable_until > now()
                then ${unavailableJson("o.unavailable_reason", "o.unavailable_until")} end)`;
const CONNECTED_REPOSITORY = `
  select ${COLUMNS}, r.last_webhook_at as "lastWebhookAt", r.last_reconciled_at as "lastReconciledAt",
         o.missing_permissions as "missingPermissions", ${UNAVAILABLE} as unavailable
    from repositories r join organizations o on o.id = r.organization_id`;

/**
 * SQL for a `Repository` as JSON, for a card's link. `isUsable` is SQL that is false after the repository left the
 * card's project: then nothing may be done there.
 */
export const linkedRepositoryJson = (isUsable: string): string => `
  json_build_object('id', r.id, 'projectId', r.project_id, 'fullName', r.full_name, 'defaultBranch', r.default_branch,
                    'linkByDefault', r.link_by_default, 'connected', r.connected,
                    'installationId', o.installation_id,
                    'broken', case when ${isUsable} then ${BROKEN} else 'other_project' end,
                    'forgeRef', case when ${isUsable} then ${REF} end)`;

/** Lists the repositories of a project by name. */
export async function listProjectRepositories(db: Db, projectId: string): Promise<ConnectedRepository[]> {
  return rows<ConnectedRepository>(
    db,
    `${CONNECTED_REPOSITORY} where r.project_id = :projectId order by r.full_name`,
    { projectId },
  );
}

/** Whether all these repositories belong to a project. */
export const belongToProject = (
  db: Db,
  projectId: string,
  repositoryIds: readonly string[],
): Promise<boolean> =>
  exists(
    db,
    `select 1 where not exists (select 1 from repositories
                                 where id = any(cast(:repositoryIds as uuid[])) and project_id is distinct from :projectId)`,
    { projectId, repositoryIds: [...repositoryIds] },
  );

const LACK_COLUMNS = { drafts: "lacks_drafts_at", async_merge: "lacks_async_merge_at" } as const;

/** Records for all processes whether a repository lacks a feature. */
export async function recordMissingFeature(
  db: Db,
  forgeId: number,
  what: RepositoryFeature,
  isLacking: boolean,
): Promise<void> {
  const column = LACK_COLUMNS[what];
  const known = db("repositories").where({ forge_id: forgeId });
  if (isLacking) await known.update({ [column]: db.fn.now() });
  else await known.whereNotNull(column).update({ [column]: null });
}

export async function findRepository(db: Db, repositoryId: string): Promise<Repository | null> {
  return firstRow<Repository>(db, `${REPOSITORY} where r.id = :repositoryId`, { repositoryId });
}

/** Lists by name the repositories of a board's projects, and the granted ones without a project. */
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

/** Prevents that other transactions change the projects of these repositories. */
export async function lockRepositories(trx: Trx, repositoryIds: readonly string[]): Promise<void> {
  await trx.raw("select 1 from repositories where id = any(?) order by forge_id for no key update", [
    [...repositoryIds],
  ]);
}

/** Replaces the repositories of a project. */
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
  const byDefault = chosen.filter(({ linkByDefault }) => linkByDefault).map(({ id }) => id);
  await setLinkedByDefault(trx, projectId, byDefault);
}

export async function findRepositoryByForgeId(db: Db, forgeId: number): Promise<Repository | null> {
  return firstRow<Repository>(db, `${REPOSITORY} where r.forge_id = :forgeId`, { forgeId });
}

/** GitHub's id of a repository; null after its transfer to another organization. */
export async function findForgeId(db: Db, repositoryId: string): Promise<number | null> {
  const forgeId = "select forge_id from repositories where id = :repositoryId";
  return firstValue<number>(db, forgeId, { repositoryId });
}

/** Records the time of the last webhook of a repository. */
export async function recordWebhookTime(db: Db, forgeId: number, at: Date): Promise<void> {
  await db("repositories")
    .where({ forge_id: forgeId })
    .whereRaw("(last_webhook_at is null or last_webhook_at < ?)", [at])
    .update({ last_webhook_at: at });
}

/** Saves a rename or a new default branch. */
export async function updateRepositoryNames(
  db: Db,
  repositoryId: string,
  now: { fullName: string; defaultBranch: string },
): Promise<void> {
  await db("repositories")
    .where({ id: repositoryId })
    .update({ full_name: now.fullName, default_branch: now.defaultBranch });
}

/** Sets the repositories that a card is linked to if its request names none. */
export async function setLinkedByDefault(
  db: Db,
  projectId: string,
  repositoryIds: readonly string[],
): Promise<void> {
  await db("repositories")
    .where({ project_id: projectId })
    .update({ link_by_default: db.raw("id = any(?)", [[...repositoryIds]]) });
}
