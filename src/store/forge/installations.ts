import type { ForgeInstallation, GrantedRepository } from "../../forge/values.ts";
import { column, firstRow, rows, type Db, type Trx } from "../db/connect.ts";

/** What is known of an account's installation, and when the forge was asked for it: `askedAt` comes from `clockOf`. */
interface InstallationState extends ForgeInstallation {
  /** The forge's words where it refuses to let us in. */
  readonly refused: string | null;
  readonly askedAt: string;
}

/** The database's clock, to the microsecond: one for all processes. */
export async function clockOf(db: Db): Promise<string> {
  const row = await firstRow<{ now: string }>(db, "select cast(clock_timestamp() as text) as now");
  if (!row) throw new Error("a clock that tells no time");
  return row.now;
}

/**
 * The organization of an account as it is now: made on first sight (`newId`), else brought up to date, and held until the transaction
 * ends. `isBetter` says that more may be done now than before. Null where the forge was asked again since and said so here already.
 */
export async function saveInstallation(
  trx: Trx,
  newId: string,
  state: InstallationState,
): Promise<{ readonly id: string; readonly isBetter: boolean } | null> {
  const { account, installationId, suspended, refused, missingPermissions, askedAt } = state;
  const slug = account.login;
  // A name that is this account's now is no longer the one's that had it before.
  await trx("organizations")
    .where({ slug })
    .whereNot({ forge_account_id: account.forgeId })
    .update({ slug: trx.raw("slug || '-' || forge_account_id") });
  const before = await firstRow<{ installationId: number | null; isBroken: boolean; missing: string[] }>(
    trx,
    `select installation_id as "installationId", broken_at is not null as "isBroken", missing_permissions as missing
       from organizations where forge_account_id = :forgeId for update`,
    { forgeId: account.forgeId },
  );
  const isBroken = suspended || refused !== null;
  const missing = [...missingPermissions];
  const saved = await firstRow<{ id: string }>(
    trx,
    `insert into organizations as o (id, slug, name, forge_account_id, installation_id, suspended, refused,
                                     missing_permissions, asked_at, broken_at)
     values (:newId, :slug, :slug, :forgeId, :installationId, :suspended, :refused, :missing, :askedAt,
             case when :isBroken then now() end)
     on conflict (forge_account_id) do update
       set slug = excluded.slug, name = excluded.name, installation_id = excluded.installation_id,
           suspended = excluded.suspended, refused = excluded.refused, asked_at = excluded.asked_at,
           missing_permissions = excluded.missing_permissions,
           broken_at = case when :isBroken then coalesce(o.broken_at, now()) end
       where o.asked_at is null or o.asked_at <= excluded.asked_at
     returning id`,
    { newId, slug, forgeId: account.forgeId, installationId, suspended, refused, missing, askedAt, isBroken },
  );
  if (!saved) return null;
  const isBetter =
    !isBroken &&
    before !== null &&
    (before.isBroken ||
      before.installationId !== installationId ||
      before.missing.some((permission) => !missing.includes(permission)));
  return { id: saved.id, isBetter };
}

/** Keeps the words the forge refuses an installation in; false where it is known already that nothing can be done there. */
export async function markInstallationRefused(
  db: Db,
  installationId: number,
  words: string,
): Promise<boolean> {
  const marked = await db("organizations")
    .where({ installation_id: installationId, broken_at: null })
    .update({ refused: words, broken_at: db.fn.now() });
  return marked > 0;
}

export async function isInstallationRefused(db: Db, installationId: number): Promise<boolean> {
  const refused = await db("organizations")
    .where({ installation_id: installationId })
    .whereNotNull("refused")
    .first("id");
  return refused !== undefined;
}

/** Lets go of an installation that was removed on the forge. */
export async function forgetInstallation(db: Db, installationId: number, askedAt: string): Promise<void> {
  await forgotten(db, askedAt).where({ installation_id: installationId });
}

/** Lets go of every installation that is not among these: they were removed on the forge. */
export async function forgetOtherInstallations(
  db: Db,
  installationIds: readonly number[],
  askedAt: string,
): Promise<void> {
  await forgotten(db, askedAt).whereNotIn("installation_id", [...installationIds]);
}

const forgotten = (db: Db, askedAt: string) =>
  db("organizations")
    .whereNotNull("installation_id")
    .whereRaw("(asked_at is null or asked_at <= ?)", [askedAt])
    .update({
      installation_id: null,
      suspended: false,
      refused: null,
      asked_at: askedAt,
      broken_at: db.raw("coalesce(broken_at, now())"),
    });

/**
 * Takes repositories that are this organization's now from those of other organizations. What was done there stays told there, about a
 * repository that is nobody's any more. Gives the ids of what was left behind.
 */
export async function takeFromOthers(
  trx: Trx,
  organizationId: string,
  forgeIds: readonly number[],
  askedAt: string,
): Promise<string[]> {
  return column<string>(
    trx,
    `update repositories
        set forge_id = null, project_id = null, link_by_default = false, connected = false,
            disconnected_at = coalesce(disconnected_at, now())
      where forge_id = any(:forgeIds) and organization_id <> :organizationId
        and (asked_at is null or asked_at <= :askedAt)
     returning id`,
    { organizationId, forgeIds: [...forgeIds], askedAt },
  );
}

/**
 * Makes the organization's repositories what the installation grants: new ones are added to `projectId`, known ones brought up to date,
 * the others marked as no longer connected. Gives the ids of the new ones, and whether any is back that was not connected.
 */
export async function saveGrantedRepositories(
  trx: Trx,
  organizationId: string,
  projectId: string | null,
  granted: readonly (GrantedRepository & { readonly newId: string })[],
  askedAt: string,
): Promise<{ readonly added: readonly string[]; readonly isAnyBack: boolean }> {
  const added: string[] = [];
  const lost = await rows<{ forgeId: number }>(
    trx,
    `select forge_id as "forgeId" from repositories where organization_id = :organizationId and not connected`,
    { organizationId },
  );
  for (const repository of granted.toSorted((a, b) => a.forgeId - b.forgeId)) {
    const saved = await firstRow<{ id: string }>(
      trx,
      `insert into repositories as r (id, organization_id, project_id, forge_id, node_id, full_name, default_branch, archived, asked_at)
       values (:newId, :organizationId, :projectId, :forgeId, :nodeId, :fullName, :defaultBranch, :isArchived, :askedAt)
       on conflict (forge_id) do update
         set full_name = excluded.full_name, default_branch = excluded.default_branch, node_id = excluded.node_id,
             archived = excluded.archived, connected = true,
             disconnected_at = null, asked_at = excluded.asked_at
         where r.organization_id = excluded.organization_id
       returning id`,
      { organizationId, projectId, askedAt, ...repository },
    );
    if (saved?.id === repository.newId) added.push(saved.id);
  }
  const forgeIds = granted.map((repository) => repository.forgeId);
  await trx("repositories")
    .where({ organization_id: organizationId, connected: true })
    .whereNotIn("forge_id", forgeIds)
    .update({ connected: false, disconnected_at: trx.fn.now() });
  return { added, isAnyBack: lost.some(({ forgeId }) => forgeIds.includes(forgeId)) };
}
