import type { RepositoryRef } from "../../forge/values.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { BROKEN, INACCESSIBLE, REF, type Repository } from "../forge/repositories.ts";

export interface ReleaseBranch {
  readonly repositoryId: string;
  readonly fullName: string;
  /** Null while GitHub must not be called about it. */
  readonly forgeRef: RepositoryRef | null;
  readonly broken: Repository["broken"];
  readonly branchName: string;
  /** The commit that it starts from. */
  readonly startSha: string;
  /** The last tip that Trunkline wrote; null until the branch is known to exist. */
  readonly headSha: string | null;
}

/**
 * Lists the branches of a release, planned ones included, by the repository's name. Leaves out
 * repositories that do not belong to the release's project any more.
 */
export async function listReleaseBranches(db: Db, releaseId: string): Promise<ReleaseBranch[]> {
  return rows<ReleaseBranch>(
    db,
    `select b.repository_id as "repositoryId", r.full_name as "fullName", b.branch_name as "branchName",
            b.start_sha as "startSha", b.head_sha as "headSha", ${REF} as "forgeRef", ${BROKEN} as broken
       from release_branches b
       join releases l on l.id = b.release_id
       join repositories r on r.id = b.repository_id and r.project_id = l.project_id
       join organizations o on o.id = r.organization_id
      where b.release_id = :releaseId order by r.full_name`,
    { releaseId },
  );
}

/** Records the start of a branch before its creation. Returns the first recorded commit. */
export async function planReleaseBranch(
  db: Db,
  branch: { releaseId: string; repositoryId: string; branchName: string; startSha: string },
): Promise<string> {
  const planned = await firstRow<{ startSha: string }>(
    db,
    `insert into release_branches as b (release_id, repository_id, branch_name, start_sha)
     values (:releaseId, :repositoryId, :branchName, :startSha)
     on conflict (release_id, repository_id) do update set start_sha = b.start_sha
     returning start_sha as "startSha"`,
    branch,
  );
  return planned?.startSha ?? branch.startSha;
}

/**
 * Records another start commit because GitHub does not have the first one any more. Does not change
 * a branch that exists.
 */
export async function replanReleaseBranch(
  db: Db,
  branch: { releaseId: string; repositoryId: string; startSha: string },
): Promise<void> {
  await db("release_branches")
    .where({ release_id: branch.releaseId, repository_id: branch.repositoryId, head_sha: null })
    .update({ start_sha: branch.startSha });
}

export async function setReleaseBranchHead(
  db: Db,
  releaseId: string,
  repositoryId: string,
  headSha: string,
): Promise<void> {
  await db("release_branches")
    .where({ release_id: releaseId, repository_id: repositoryId })
    .update({ head_sha: headSha });
}

/** Removes all branches of a release, also those of repositories that have left its project. */
export async function removeAllReleaseBranches(db: Db, releaseId: string): Promise<void> {
  await db("release_branches").where({ release_id: releaseId }).delete();
}

export async function removeReleaseBranches(
  db: Db,
  releaseId: string,
  repositoryIds: readonly string[],
): Promise<void> {
  await db("release_branches")
    .where({ release_id: releaseId })
    .whereIn("repository_id", [...repositoryIds])
    .delete();
}

export interface ReleaseRepository {
  readonly repositoryId: string;
  readonly fullName: string;
  /** Null until the branch is known to exist. */
  readonly branchName: string | null;
  readonly headSha: string | null;
  /** Whether a card of the release is linked to it. */
  readonly holdsCards: boolean;
}

/** The repositories of the project of the release `r`, and those with a branch of the release. */
const REPOSITORIES = `
  select p.id as "repositoryId", p.full_name as "fullName", b.branch_name as "branchName", b.head_sha as "headSha",
         exists (select 1 from release_cards rc join card_repositories cr on cr.card_id = rc.card_id
                  where rc.release_id = r.id and cr.repository_id = p.id) as "holdsCards"
    from repositories p
    left join release_branches b on b.release_id = r.id and b.repository_id = p.id and b.head_sha is not null
   where p.project_id = r.project_id
      or p.id in (select repository_id from release_branches where release_id = r.id)`;

/** SQL for these repositories as JSON, by name. */
export const RELEASE_REPOSITORIES = `
  (select coalesce(json_agg(listed order by listed."fullName"), '[]') from (${REPOSITORIES}) listed)`;

/** Lists these repositories by name. */
export async function listReleaseRepositories(db: Db, releaseId: string): Promise<ReleaseRepository[]> {
  return rows<ReleaseRepository>(
    db,
    `select listed.* from releases r cross join lateral (${REPOSITORIES}) listed
      where r.id = :releaseId order by listed."fullName"`,
    { releaseId },
  );
}

interface OpenReleaseBranch {
  readonly repositoryId: string;
  readonly releaseName: string;
  readonly branchName: string;
}

export async function listOpenReleaseBranches(
  db: Db,
  projectId: string,
  repositoryIds: readonly string[],
): Promise<OpenReleaseBranch[]> {
  return rows<OpenReleaseBranch>(
    db,
    `select b.repository_id as "repositoryId", r.name as "releaseName", b.branch_name as "branchName"
       from release_branches b join releases r on r.id = b.release_id
      where r.project_id = :projectId and r.status = 'open' and b.repository_id = any(:repositoryIds)
      order by r.id, b.branch_name`,
    { projectId, repositoryIds: [...repositoryIds] },
  );
}

/** Records a pick's temporary branch in a repository before it is created. */
export async function recordPickBranch(db: Db, operationId: string, repositoryId: string): Promise<void> {
  await db("pick_branches")
    .insert({ operation_id: operationId, repository_id: repositoryId })
    .onConflict()
    .ignore();
}

export async function deletePickBranches(
  db: Db,
  operationIds: readonly string[],
  repositoryId: string,
): Promise<void> {
  await db("pick_branches")
    .where({ repository_id: repositoryId })
    .whereIn("operation_id", [...operationIds])
    .delete();
}

/** Temporary branches of ended picks that a repository may still have. */
export interface LeftoverPickBranches {
  readonly repositoryId: string;
  readonly forgeRef: RepositoryRef;
  readonly operationIds: readonly string[];
}

/** Skips repositories about which GitHub must not be called. */
export async function listLeftoverPickBranches(db: Db): Promise<LeftoverPickBranches[]> {
  return rows<LeftoverPickBranches>(
    db,
    `select r.id as "repositoryId", array_agg(b.operation_id) as "operationIds",
            ${REF} as "forgeRef"
       from pick_branches b
       join operations p on p.id = b.operation_id and p.state <> 'running'
       join repositories r on r.id = b.repository_id
       join organizations o on o.id = r.organization_id
      where ${INACCESSIBLE} is null
      group by r.id, o.id order by r.id`,
  );
}
