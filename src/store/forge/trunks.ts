import { revertsAmong, type Landing } from "../../flow/landings.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";

/** A branch that a project's flow merges into, in one of its repositories. */
export interface Trunk {
  readonly repositoryId: string;
  readonly branchName: string;
  readonly ref: RepositoryRef;
}

type TrunkKey = Pick<Trunk, "repositoryId" | "branchName">;

/** How far a trunk's history is known. */
interface KnownTrunk {
  readonly headSha: string;
  /** Where it was last heard to be. */
  readonly tipSha: string | null;
  readonly settledSha: string | null;
  readonly knownSince: Date;
}

/**
 * The trunk branches of projects, as `repository_id` and `branch_name`: what their merge stages
 * merge into, the default branch where a flow has none. `of` says which repositories are meant.
 */
export const trunksSql = (of: string): string => `
  select distinct r.id as repository_id, coalesce(m.rule_into, r.default_branch) as branch_name
    from repositories r left join stages m on m.project_id = r.project_id and m.rule_type = 'merge'
   where r.project_id is not null and ${of}`;

const TRUNK = (of: string): string => `
  select t.repository_id as "repositoryId", t.branch_name as "branchName",
         json_build_object('installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name) as ref
    from (${trunksSql(of)}) t
    join repositories r on r.id = t.repository_id and r.connected
    join organizations o on o.id = r.organization_id and o.installation_id is not null and not o.suspended
     and o.refused is null`;

/**
 * A trunk with the commits up to which its history is known and settled, and its last known tip.
 */
export interface ListedTrunk extends Trunk {
  readonly headSha: string | null;
  readonly settledSha: string | null;
  readonly tipSha: string | null;
}

/** Every trunk branch the forge can be asked about, or those of one account. */
export async function listTrunks(db: Db, installationId: number | null): Promise<ListedTrunk[]> {
  return rows(
    db,
    `select found.*, k.head_sha as "headSha", k.settled_sha as "settledSha", k.tip_sha as "tipSha"
       from (${TRUNK("true")}) found
       left join trunks k on k.repository_id = found."repositoryId" and k.branch_name = found."branchName"
      where cast(:installationId as bigint) is null or cast(found.ref->>'installationId' as bigint) = :installationId
      order by found."repositoryId", found."branchName"`,
    { installationId },
  );
}

/** The trunk branches of a project whose history nobody has read yet. */
export async function listNewTrunks(db: Db, projectId: string): Promise<Trunk[]> {
  return rows<Trunk>(
    db,
    `select found.* from (${TRUNK("r.project_id = :projectId")}) found
      where not exists (select 1 from trunks k where k.repository_id = found."repositoryId"
                                                 and k.branch_name = found."branchName")`,
    { projectId },
  );
}

/** The branch as a trunk of its repository's project, or null where it is none. */
export async function findTrunk(db: Db, repositoryId: string, branchName: string): Promise<Trunk | null> {
  return firstRow<Trunk>(
    db,
    `select * from (${TRUNK("r.id = :repositoryId")}) found where "branchName" = :branchName`,
    { repositoryId, branchName },
  );
}

const KNOWN = `
  select head_sha as "headSha", tip_sha as "tipSha", settled_sha as "settledSha", known_since as "knownSince"
    from trunks where repository_id = :repositoryId and branch_name = :branchName`;

export async function findKnownTrunk(
  db: Db,
  { repositoryId, branchName }: TrunkKey,
): Promise<KnownTrunk | null> {
  return firstRow<KnownTrunk>(db, KNOWN, { repositoryId, branchName });
}

/** A stretch of a trunk's history as it was read, up to its tip. */
interface ReadHistory {
  readonly headSha: string;
  readonly settledSha: string | null;
  readonly knownSince: Date;
  /** Oldest first. */
  readonly landings: readonly Landing[];
  /** Every commit of the stretch. */
  readonly shas: readonly string[];
  /** Whether it does not follow on what is known, but takes its place. */
  readonly replacesAll: boolean;
}

/**
 * Saves what was read of a trunk's history in place of what was known of the same stretch. False
 * when somebody else has read on since `known` was read: then nothing is saved.
 */
export async function saveHistory(
  trx: Trx,
  trunk: TrunkKey,
  known: KnownTrunk | null,
  read: ReadHistory,
): Promise<boolean> {
  const where = { repository_id: trunk.repositoryId, branch_name: trunk.branchName };
  const state = { head_sha: read.headSha, settled_sha: read.settledSha, known_since: read.knownSince };
  const saved = known
    ? await trx("trunks").where(where).andWhere({ head_sha: known.headSha }).update(state)
    : (
        await trx("trunks")
          .insert({ ...where, ...state })
          .onConflict()
          .ignore()
          .returning("head_sha")
      ).length;
  if (saved === 0) return false;
  await trx.raw(
    `delete from landings
      where repository_id = :repositoryId and branch_name = :branchName
        and (:replacesAll or sha = any(:shas) or key = any(:keys))`,
    {
      repositoryId: trunk.repositoryId,
      branchName: trunk.branchName,
      replacesAll: read.replacesAll,
      shas: [...read.shas],
      keys: read.landings.map(({ key }) => key),
    },
  );
  const reverts = await revertsIn(trx, trunk, read.landings);
  await insertLandings(trx, trunk, read.landings, reverts);
  return true;
}

async function revertsIn(
  trx: Trx,
  { repositoryId, branchName }: TrunkKey,
  landings: readonly Landing[],
): Promise<ReadonlySet<string>> {
  const undone = landings.flatMap(({ reverts }) => (reverts ? [reverts.sha] : []));
  const earlier = await rows<{ sha: string; revertingSha: string | null }>(
    trx,
    `select sha, reverting_sha as "revertingSha" from landings
      where repository_id = :repositoryId and branch_name = :branchName and is_revert
        and (sha = any(:undone) or reverting_sha = any(:undone))`,
    { repositoryId, branchName, undone },
  );
  const known = new Set(earlier.flatMap(({ sha, revertingSha }) => [sha, revertingSha]));
  return revertsAmong(landings, (sha) => known.has(sha));
}

async function insertLandings(
  trx: Trx,
  { repositoryId, branchName }: TrunkKey,
  landings: readonly Landing[],
  reverts: ReadonlySet<string>,
): Promise<void> {
  const told = landings.map((landing) => ({
    ...landing,
    revertsSha: landing.reverts?.sha ?? null,
    revertingSha: landing.reverts?.by ?? null,
    isRevert: reverts.has(landing.sha),
  }));
  await trx.raw(
    `insert into landings (repository_id, branch_name, key, sha, title, at, author_login, pr_number,
                           reverts_sha, reverting_sha, is_revert)
     select :repositoryId, :branchName, l.value->>'key', l.value->>'sha', l.value->>'title',
            cast(l.value->>'at' as timestamptz), l.value->>'authorLogin', cast(l.value->>'prNumber' as integer),
            l.value->>'revertsSha', l.value->>'revertingSha', cast(l.value->>'isRevert' as boolean)
       from json_array_elements(cast(:told as json)) with ordinality as l (value, place) order by l.place`,
    { repositoryId, branchName, told: JSON.stringify(told) },
  );
}

/** Tips are compared with GitHub every hour; a tip that is older than this is not used. */
const TRUSTED_FOR = "2 hours";

/** The last known tip of a trunk branch; null when unknown or in doubt. */
export async function findTip(db: Db, { repositoryId, branchName }: TrunkKey): Promise<string | null> {
  return firstValue<string>(
    db,
    `select tip_sha as sha from trunks
      where repository_id = :repositoryId and branch_name = :branchName
        and tip_sha is not null and tip_at > now() - interval '${TRUSTED_FOR}'`,
    { repositoryId, branchName },
  );
}

/**
 * Records a push. If it does not start at the known tip, the tip is in doubt until GitHub is read.
 */
export async function noteTip(
  db: Db,
  trunk: TrunkKey & { readonly before: string | null; readonly after: string | null },
): Promise<void> {
  const { repositoryId, branchName, before, after } = trunk;
  await db.raw(
    `update trunks set tip_sha = case when tip_sha in (:before, :after) then :after end, tip_at = now()
      where repository_id = :repositoryId and branch_name = :branchName`,
    { repositoryId, branchName, before, after },
  );
}

/** Marks all tips of a repository as in doubt, after a change of the repository itself. */
export async function doubtTips(db: Db, repositoryId: string): Promise<void> {
  await db("trunks").where({ repository_id: repositoryId }).update({ tip_sha: null });
}

/** Marks a tip as in doubt after our own merge, until its push event arrives. */
export async function doubtTip(db: Db, trunk: TrunkKey, mergeSha: string | null): Promise<void> {
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is distinct from ?", [mergeSha])
    .update({ tip_sha: null });
}

/**
 * Takes the forge's word for a tip, unless something was heard while it was asked: `heard` is what
 * was known before. Where the forge shows another commit that is not known to be later, one of the
 * two is old, and the tip is in doubt.
 */
export async function confirmTip(
  db: Db,
  trunk: TrunkKey,
  told: { readonly heard: string | null; readonly shown: string; readonly isLater: boolean },
): Promise<void> {
  const { heard, shown, isLater } = told;
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is not distinct from ?", [heard])
    .update({ tip_sha: heard === null || heard === shown || isLater ? shown : null, tip_at: db.fn.now() });
}
