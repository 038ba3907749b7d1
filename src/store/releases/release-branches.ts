import type { RepositoryRef } from "../../forge/forge.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";

/** The branch of a release in a repository. */
export interface ReleaseBranch {
  readonly repositoryId: string;
  readonly fullName: string;
  /** How the forge is asked about the repository; null while the installation is gone. */
  readonly ref: RepositoryRef | null;
  readonly branchName: string;
  /** The commit it is, or is about to be, cut from. */
  readonly cutSha: string;
  /** Its tip as we left it; null before it is known to be there. */
  readonly headSha: string | null;
}

/** The branches of a release, those about to be cut among them, by the repository's name. */
export async function listReleaseBranches(db: Db, releaseId: string): Promise<ReleaseBranch[]> {
  return rows<ReleaseBranch>(
    db,
    `select b.repository_id as "repositoryId", p.full_name as "fullName", b.branch_name as "branchName",
            b.cut_sha as "cutSha", b.head_sha as "headSha",
            case when o.installation_id is null then null else json_build_object(
               'installationId', o.installation_id, 'forgeId', p.forge_id, 'fullName', p.full_name) end as ref
       from release_branches b
       join repositories p on p.id = b.repository_id
       join organizations o on o.id = p.organization_id
      where b.release_id = :releaseId order by p.full_name`,
    { releaseId },
  );
}

/** Writes down where a branch is about to be cut; what was written down before stays. Gives the commit. */
export async function planReleaseBranch(
  db: Db,
  branch: { releaseId: string; repositoryId: string; branchName: string; cutSha: string },
): Promise<string> {
  const planned = await firstRow<{ cutSha: string }>(
    db,
    `insert into release_branches as b (release_id, repository_id, branch_name, cut_sha)
     values (:releaseId, :repositoryId, :branchName, :cutSha)
     on conflict (release_id, repository_id) do update set cut_sha = b.cut_sha
     returning cut_sha as "cutSha"`,
    branch,
  );
  return planned?.cutSha ?? branch.cutSha;
}

/** The same at another commit, where the forge has the one written down no more. One that is known to be there stays. */
export async function planReleaseBranchAnew(
  db: Db,
  branch: { releaseId: string; repositoryId: string; cutSha: string },
): Promise<void> {
  await db("release_branches")
    .where({ release_id: branch.releaseId, repository_id: branch.repositoryId, head_sha: null })
    .update({ cut_sha: branch.cutSha });
}

/** Where we left a release's branch. */
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

/** Forgets a release's branches in these repositories. */
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
