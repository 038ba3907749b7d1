import {
  plainTitleOf,
  revertsAmong,
  withReverts,
  type LandedBefore,
  type Landing,
} from "../../flow/trunk/landings.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { INACCESSIBLE, REF } from "./repositories.ts";

/** A branch of a repository that the project's flow merges into. */
export interface Trunk {
  readonly repositoryId: string;
  readonly branchName: string;
  readonly forgeRef: RepositoryRef;
}

type TrunkKey = Pick<Trunk, "repositoryId" | "branchName">;

/** How far the history of a trunk was read. */
interface KnownTrunk {
  readonly headSha: string;
  /** The newest tip that a webhook reported. */
  readonly tipSha: string | null;
  /** Up to this commit, GitHub has shown which pull requests the commits belong to. */
  readonly attributedSha: string | null;
  readonly knownSince: Date;
}

/**
 * SQL for the trunk branches of projects: the targets of their merge stages, or the default branch
 * if a flow has none. `of` is a condition on the repository `r`.
 */
export const trunksSql = (of: string): string => `
  select distinct r.id as repository_id, coalesce(m.rule_into, r.default_branch) as branch_name
    from repositories r left join stages m on m.project_id = r.project_id and m.rule_type = 'merge'
   where r.project_id is not null and ${of}`;

const TRUNK = (of: string): string => `
  select t.repository_id as "repositoryId", t.branch_name as "branchName",
         ${REF} as "forgeRef"
    from (${trunksSql(of)}) t
    join repositories r on r.id = t.repository_id
    join organizations o on o.id = r.organization_id
   where ${INACCESSIBLE} is null`;

/** A trunk with the state of `trunks`, where known. */
export interface ListedTrunk extends Trunk, Omit<KnownTrunk, "headSha" | "knownSince"> {
  readonly headSha: string | null;
}

/** Lists the trunks of all usable installations, or those of one. */
export async function listTrunks(db: Db, installationId: number | null): Promise<ListedTrunk[]> {
  return rows(
    db,
    `select found.*, k.head_sha as "headSha", k.attributed_sha as "attributedSha", k.tip_sha as "tipSha"
       from (${TRUNK("true")}) found
       left join trunks k on k.repository_id = found."repositoryId" and k.branch_name = found."branchName"
      where cast(:installationId as bigint) is null or cast(found."forgeRef"->>'installationId' as bigint) = :installationId
      order by found."repositoryId", found."branchName"`,
    { installationId },
  );
}

/** Lists the trunks of a project whose history was not read yet. */
export async function listNewTrunks(db: Db, projectId: string): Promise<Trunk[]> {
  return rows<Trunk>(
    db,
    `select found.* from (${TRUNK("r.project_id = :projectId")}) found
      where not exists (select 1 from trunks k where k.repository_id = found."repositoryId"
                                                 and k.branch_name = found."branchName")`,
    { projectId },
  );
}

/** Null if the branch is not a trunk. */
export async function findTrunk(db: Db, repositoryId: string, branchName: string): Promise<Trunk | null> {
  return firstRow<Trunk>(
    db,
    `select * from (${TRUNK("r.id = :repositoryId")}) found where "branchName" = :branchName`,
    { repositoryId, branchName },
  );
}

const KNOWN = `
  select head_sha as "headSha", tip_sha as "tipSha", attributed_sha as "attributedSha", known_since as "knownSince"
    from trunks where repository_id = :repositoryId and branch_name = :branchName`;

export async function findKnownTrunk(
  db: Db,
  { repositoryId, branchName }: TrunkKey,
): Promise<KnownTrunk | null> {
  return firstRow<KnownTrunk>(db, KNOWN, { repositoryId, branchName });
}

/** A part of a trunk's history, up to its tip. */
interface ReadHistory extends Omit<KnownTrunk, "tipSha"> {
  /** The oldest first. */
  readonly landings: readonly Landing[];
  /** All commits of the part. */
  readonly shas: readonly string[];
  /** Other commits that the branch contains and its landings may revert. */
  readonly containedShas: ReadonlySet<string>;
  /** Whether it replaces the stored history, because it does not continue it. */
  readonly replacesAll: boolean;
}

/**
 * Replaces a part of the stored history. False, and nothing is saved, if the stored state is no
 * longer `known`, because another process has read the history in the meantime.
 */
export async function saveHistory(
  trx: Trx,
  trunk: Trunk,
  known: KnownTrunk | null,
  read: ReadHistory,
): Promise<boolean> {
  const where = { repository_id: trunk.repositoryId, branch_name: trunk.branchName };
  const state = { head_sha: read.headSha, attributed_sha: read.attributedSha, known_since: read.knownSince };
  const trunks = trx("trunks");
  const saved = known
    ? trunks.where({ ...where, head_sha: known.headSha }).update(state, "head_sha")
    : trunks
        .insert({ ...where, ...state }, "head_sha")
        .onConflict()
        .ignore();
  if ((await saved).length === 0) return false;
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
  const before = { ...trunk.forgeRef, shas: read.containedShas };
  const landed = await listUndone(trx, trunk, read.landings);
  const landings = withReverts(read.landings, { ...before, landings: landed });
  await insertLandings(trx, trunk, landings, await revertsIn(trx, trunk, landings));
  return true;
}

type ResolvedLanding = ReturnType<typeof withReverts>[number];

/** Lists the stored landings that new ones may revert, the oldest first. */
async function listUndone(
  trx: Trx,
  { repositoryId, branchName }: TrunkKey,
  landings: readonly Landing[],
): Promise<LandedBefore["landings"]> {
  const undone = landings.flatMap(({ reverts }) => reverts?.undone ?? []);
  if (undone.length === 0) return [];
  return rows(
    trx,
    `select sha, title, pr_number as "prNumber" from landings
      where repository_id = :repositoryId and branch_name = :branchName
        and (left(sha, 7) = any(:shas) or pr_number = any(cast(:numbers as integer[]))
             or trim(regexp_replace(title, ' \\(#\\d+\\)$', '')) = any(:titles))
      order by seq`,
    {
      repositoryId,
      branchName,
      shas: undone.flatMap((each) => ("sha" in each ? [each.sha.slice(0, 7)] : [])),
      numbers: undone.flatMap((each) => ("prNumber" in each ? [each.prNumber] : [])),
      titles: undone.flatMap((each) => ("title" in each ? [plainTitleOf(each.title)] : [])),
    },
  );
}

async function revertsIn(
  trx: Trx,
  { repositoryId, branchName }: TrunkKey,
  landings: readonly ResolvedLanding[],
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
  landings: readonly ResolvedLanding[],
  reverts: ReadonlySet<string>,
): Promise<void> {
  const landed = landings.map((landing) => ({
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
       from json_array_elements(cast(:landed as json)) with ordinality as l (value, place) order by l.place`,
    { repositoryId, branchName, landed: JSON.stringify(landed) },
  );
}

/** Tips are compared with GitHub every hour. A tip that is older than this is not used. */
const TRUSTED_FOR = "2 hours";

/** The last known tip of a trunk, or null if it is unknown. */
export async function findTip(db: Db, { repositoryId, branchName }: TrunkKey): Promise<string | null> {
  return firstValue<string>(
    db,
    `select tip_sha as sha from trunks
      where repository_id = :repositoryId and branch_name = :branchName
        and tip_sha is not null and tip_at > now() - interval '${TRUSTED_FOR}'`,
    { repositoryId, branchName },
  );
}

/** Records a push. If it does not start at the known tip, the tip becomes unknown. */
export async function recordTip(
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

/** Marks all tips of a repository as unknown, after a change of the repository. */
export async function invalidateTips(db: Db, repositoryId: string): Promise<void> {
  await db("trunks").where({ repository_id: repositoryId }).update({ tip_sha: null });
}

/** Marks a tip as unknown after a merge by Trunkline, until the push event arrives. */
export async function invalidateTip(db: Db, trunk: TrunkKey, mergeSha: string | null): Promise<void> {
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is distinct from ?", [mergeSha])
    .update({ tip_sha: null });
}

/**
 * Saves the tip that GitHub shows, unless the stored tip is no longer the `reported` one. If GitHub
 * shows another commit that is not known to be later, the tip becomes unknown.
 */
export async function confirmTip(
  db: Db,
  trunk: TrunkKey,
  tip: { readonly reported: string | null; readonly shown: string; readonly includesReported: boolean },
): Promise<void> {
  const { reported, shown, includesReported } = tip;
  await db("trunks")
    .where({ repository_id: trunk.repositoryId, branch_name: trunk.branchName })
    .whereRaw("tip_sha is not distinct from ?", [reported])
    .update({
      tip_sha: reported === null || reported === shown || includesReported ? shown : null,
      tip_at: db.fn.now(),
    });
}
