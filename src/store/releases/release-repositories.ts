import { rows, type Db } from "../db/connect.ts";

/** A repository as a release concerns it. */
export interface ReleaseRepository {
  readonly repositoryId: string;
  readonly fullName: string;
  /** The release's branch there, and its tip as we left it; null while it is not frozen. */
  readonly branchName: string | null;
  readonly headSha: string | null;
  /** Whether a card of the release is linked to it. */
  readonly holdsCards: boolean;
}

/** The repositories of the project of the release `r`, and those it has a branch in. */
const REPOSITORIES = `
  select p.id as "repositoryId", p.full_name as "fullName", b.branch_name as "branchName", b.head_sha as "headSha",
         exists (select 1 from release_cards rc join card_repositories cr on cr.card_id = rc.card_id
                  where rc.release_id = r.id and cr.repository_id = p.id) as "holdsCards"
    from repositories p
    left join release_branches b on b.release_id = r.id and b.repository_id = p.id and b.head_sha is not null
   where p.project_id = r.project_id
      or p.id in (select repository_id from release_branches where release_id = r.id)`;

/** The same by name: `ReleaseRepository`s as JSON. */
export const RELEASE_REPOSITORIES = `
  (select coalesce(json_agg(told order by told."fullName"), '[]') from (${REPOSITORIES}) told)`;

/** The repositories of a release's project, and those it has a branch in, by name. */
export async function listReleaseRepositories(db: Db, releaseId: string): Promise<ReleaseRepository[]> {
  return rows<ReleaseRepository>(
    db,
    `select told.* from releases r cross join lateral (${REPOSITORIES}) told
      where r.id = :releaseId order by told."fullName"`,
    { releaseId },
  );
}

/** A branch of an open release, which needs its repository to stay. */
export interface OpenReleaseBranch {
  readonly repositoryId: string;
  readonly releaseName: string;
  readonly branchName: string;
}

/** The branches of a project's open releases, in these repositories. */
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
