import type { ForgeInstallation, GrantedRepository, UnavailableReason } from "../../forge/values.ts";
import { column, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";

interface InstallationState extends ForgeInstallation {
  /** GitHub's message if it refuses the installation. */
  readonly refused: string | null;
  /** When GitHub was asked, by `readClock`. */
  readonly askedAt: string;
}

/** The time of the database, to the microsecond: the same clock for all processes. */
export async function readClock(db: Db): Promise<string> {
  const now = await firstValue<string>(db, "select cast(clock_timestamp() as text) as now", {});
  if (now === null) throw new Error("The database returned no time.");
  return now;
}

/**
 * Inserts (with `newId`) or updates the organization of an account and locks it until the
 * transaction ends. `hasMoreAccess`: whether Trunkline may do more than before. Null if a later
 * response of GitHub is saved already.
 */
export async function saveInstallation(
  trx: Trx,
  newId: string,
  state: InstallationState,
): Promise<{ readonly id: string; readonly hasMoreAccess: boolean } | null> {
  const { account, installationId, suspended, refused, missingPermissions, askedAt } = state;
  const slug = account.login;
  // Accounts can be renamed: another account may have had this login before.
  await trx("organizations")
    .where({ slug })
    .whereNot({ forge_account_id: account.forgeId })
    .update({ slug: trx.raw("slug || '-' || forge_account_id") });
  const before = await firstRow<{ installationId: number | null; isBroken: boolean; missing: string[] }>(
    trx,
    `select installation_id as "installationId", broken_at is not null as "isBroken", missing_permissions as missing
       from organizations where forge_account_id = :forgeId for no key update`,
    { forgeId: account.forgeId },
  );
  const isBroken = suspended || refused !== null;
  const missing = [...missingPermissions];
  // A separate statement: an update that may change a key blocks transactions that refer to the
  // organization, such as a change of its repositories, and could deadlock with them.
  await rows(
    trx,
    `update organizations set slug = :slug, installation_id = :installationId
      where forge_account_id = :forgeId and (slug <> :slug or installation_id is distinct from :installationId)
        and (asked_at is null or asked_at <= :askedAt)`,
    { slug, installationId, forgeId: account.forgeId, askedAt },
  );
  const saved = await firstRow<{ id: string }>(
    trx,
    `insert into organizations as o (id, slug, name, forge_account_id, installation_id, suspended, refused,
                                     missing_permissions, asked_at, broken_at)
     values (:newId, :slug, :slug, :forgeId, :installationId, :suspended, :refused, :missing, :askedAt,
             case when :isBroken then now() end)
     on conflict (forge_account_id) do update
       set name = excluded.name, suspended = excluded.suspended, refused = excluded.refused, asked_at = excluded.asked_at,
           missing_permissions = excluded.missing_permissions,
           broken_at = case when :isBroken then coalesce(o.broken_at, now()) end
       where o.asked_at is null or o.asked_at <= excluded.asked_at
     returning id`,
    { newId, slug, forgeId: account.forgeId, installationId, suspended, refused, missing, askedAt, isBroken },
  );
  if (!saved) return null;
  const hasMoreAccess =
    !isBroken &&
    before !== null &&
    (before.isBroken ||
      before.installationId !== installationId ||
      before.missing.some((permission) => !missing.includes(permission)));
  return { id: saved.id, hasMoreAccess };
}

/** Lists the accounts that have an installation; none if the database is empty. */
export async function listInstalledAccounts(
  db: Db,
): Promise<readonly { readonly forgeId: number; readonly login: string }[]> {
  if (!(await db.schema.hasTable("organizations"))) return [];
  return rows(
    db,
    `select forge_account_id as "forgeId", slug as login from organizations
      where installation_id is not null order by slug`,
  );
}

/** Saves the message of GitHub's refusal. False if the installation is known to be unusable. */
export async function markInstallationRefused(
  db: Db,
  installationId: number,
  message: string,
): Promise<boolean> {
  const marked = await db("organizations")
    .where({ installation_id: installationId, broken_at: null })
    .update({ refused: message, broken_at: db.fn.now() });
  return marked > 0;
}

/** Records why GitHub did not respond, unless this reason is recorded for at least half of that time. */
export async function markInstallationUnavailable(
  db: Db,
  installationId: number,
  { reason, seconds }: { readonly reason: UnavailableReason; readonly seconds: number },
): Promise<void> {
  await db.raw(
    `update organizations
        set unavailable_reason = :reason, unavailable_until = now() + :seconds * interval '1 second'
      where installation_id = :installationId
        and (unavailable_reason is distinct from :reason
             or unavailable_until < now() + :seconds / 2.0 * interval '1 second')`,
    { installationId, reason, seconds },
  );
}

export async function isInstallationRefused(db: Db, installationId: number): Promise<boolean> {
  const refused = await db("organizations")
    .where({ installation_id: installationId })
    .whereNotNull("refused")
    .first("id");
  return refused !== undefined;
}

/** Removes an installation that was deleted on GitHub. */
export async function removeInstallation(db: Db, installationId: number, askedAt: string): Promise<void> {
  await removed(db, askedAt).where({ installation_id: installationId });
}

/** Removes all installations except these. */
export async function removeOtherInstallations(
  db: Db,
  installationIds: readonly number[],
  askedAt: string,
): Promise<void> {
  await removed(db, askedAt).whereNotIn("installation_id", [...installationIds]);
}

const removed = (db: Db, askedAt: string) =>
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
 * Detaches repositories that now belong to this organization from their previous organizations,
 * which keep the history. Returns the ids of the detached rows.
 */
export async function detachFromOtherOrganizations(
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
 * Saves the granted repositories: adds new ones to `projectId`, updates known ones, and marks all
 * others as disconnected. `isAnyBack`: whether a disconnected repository is granted again.
 */
export async function saveGrantedRepositories(
  trx: Trx,
  organizationId: string,
  projectId: string | null,
  granted: readonly (GrantedRepository & { readonly newId: string })[],
  askedAt: string,
): Promise<{ readonly added: readonly string[]; readonly isAnyBack: boolean }> {
  const added: string[] = [];
  const disconnected = await column<number>(
    trx,
    "select forge_id from repositories where organization_id = :organizationId and not connected",
    { organizationId },
  );
  for (const repository of granted.toSorted((a, b) => a.forgeId - b.forgeId)) {
    const saved = await firstRow<{ id: string }>(
      trx,
      `insert into repositories as r (id, organization_id, project_id, forge_id, node_id, full_name, forge_url, default_branch,
                                     archived, asked_at)
       values (:newId, :organizationId, :projectId, :forgeId, :nodeId, :fullName, :forgeUrl, :defaultBranch,
               :isArchived, :askedAt)
       on conflict (forge_id) do update
         set full_name = excluded.full_name, forge_url = excluded.forge_url, default_branch = excluded.default_branch, node_id = excluded.node_id,
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
  return { added, isAnyBack: disconnected.some((forgeId) => forgeIds.includes(forgeId)) };
}
