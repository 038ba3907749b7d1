import type { RepositoryRef } from "../forge/forge.ts";
import { firstRow, rows, type Db, type Trx } from "./connect.ts";
import { REF } from "./connections.ts";
import { REPOSITORY_JSON, type Repository } from "./repositories.ts";
import { unlessTaken } from "./violations.ts";

/** A card's link to a repository with all that is known of its branch and pull requests there. */
export interface Link {
  readonly repository: Repository;
  readonly branchName: string | null;
  readonly headSha: string | null;
  readonly pullRequests: readonly LinkedPullRequest[];
}

export interface LinkedPullRequest {
  readonly number: number;
  readonly nodeId: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
}

/** The links of a card, by the repository's name. */
export async function listLinks(db: Db, cardId: string): Promise<Link[]> {
  return rows<Link>(
    db,
    `select ${REPOSITORY_JSON} as repository,
            cr.branch_name as "branchName", cr.head_sha as "headSha",
            coalesce((select json_agg(json_build_object('number', p.number, 'nodeId', p.node_id,
                               'targetBranch', p.target_branch, 'state', p.state, 'headSha', p.head_sha)
                             order by p.number desc)
                        from pull_requests p
                       where p.card_id = cr.card_id and p.repository_id = cr.repository_id), '[]') as "pullRequests"
       from card_repositories cr
       join repositories r on r.id = cr.repository_id
       join organizations o on o.id = r.organization_id
      where cr.card_id = :cardId
      order by r.full_name`,
    { cardId },
  );
}

/** Links a card to repositories; those already linked stay as they are. */
export async function insertLinks(db: Db, cardId: string, repositoryIds: readonly string[]): Promise<void> {
  if (repositoryIds.length === 0) return;
  await db("card_repositories")
    .insert(repositoryIds.map((id) => ({ card_id: cardId, repository_id: id })))
    .onConflict(["card_id", "repository_id"])
    .ignore();
}

/** Unlinks a card from repositories. Their branches and pull requests are left alone. */
export async function removeLinks(db: Db, cardId: string, repositoryIds: readonly string[]): Promise<void> {
  await db("card_repositories")
    .where({ card_id: cardId })
    .whereIn("repository_id", [...repositoryIds])
    .delete();
}

/** A card on the board that is linked to a repository, and what keeps it there. */
export interface LinkedCard {
  readonly cardId: string;
  readonly number: number;
  readonly repositoryId: string;
  readonly branchName: string | null;
  readonly openPullRequest: number | null;
  readonly hasMerged: boolean;
  readonly isMoving: boolean;
}

/** The cards linked to any of these repositories, in the order of their numbers. They are held until the transaction ends. */
export async function holdLinkedCards(trx: Trx, repositoryIds: readonly string[]): Promise<LinkedCard[]> {
  const bindings = { repositoryIds: [...repositoryIds] };
  // First the lock, then the look: what is read by the statement that waits is as old as its start.
  await rows(
    trx,
    `select c.id from cards c
      where c.deleted_at is null
        and c.id in (select cr.card_id from card_repositories cr where cr.repository_id = any(:repositoryIds))
      order by c.id for no key update`,
    bindings,
  );
  return rows<LinkedCard>(
    trx,
    `select c.id as "cardId", c.number, cr.repository_id as "repositoryId", cr.branch_name as "branchName",
            (select min(p.number) from pull_requests p
              where p.card_id = c.id and p.repository_id = cr.repository_id and p.state in ('draft', 'open')
            ) as "openPullRequest",
            exists (select 1 from pull_requests p
                     where p.card_id = c.id and p.repository_id = cr.repository_id and p.state = 'merged'
            ) as "hasMerged",
            exists (select 1 from operations o
                     where o.card_id = c.id and o.state in ('running', 'queued')) as "isMoving"
       from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = any(:repositoryIds) and c.deleted_at is null
      order by c.number, cr.repository_id`,
    bindings,
  );
}

/** Records the branch a card owns in a repository, and its tip. */
export async function setBranch(
  db: Db,
  cardId: string,
  repositoryId: string,
  branch: { readonly name: string; readonly headSha: string },
): Promise<void> {
  await db("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .update({ branch_name: branch.name, head_sha: branch.headSha, changed_at: db.fn.now() });
}

/**
 * Makes a branch a card's, where a deleted card may have left it; false when another card on the board owns it, and then the transaction can
 * only be undone.
 */
export async function takeBranch(
  trx: Trx,
  cardId: string,
  repositoryId: string,
  branch: { readonly name: string; readonly headSha: string },
): Promise<boolean> {
  await trx("card_repositories")
    .where({ repository_id: repositoryId, branch_name: branch.name })
    .whereIn("card_id", trx("cards").whereNotNull("deleted_at").select("id"))
    .update({ branch_name: null, head_sha: null });
  return unlessTaken(setBranch(trx, cardId, repositoryId, branch));
}

/** Records where a card's branch is now; null once it is gone. */
export async function setHeadSha(
  db: Db,
  cardId: string,
  repositoryId: string,
  headSha: string | null,
): Promise<void> {
  await db("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .update({ head_sha: headSha, changed_at: db.fn.now() });
}

/** The card that owns this branch, or null. A deleted card owns none any more. */
export async function findBranchOwner(
  db: Db,
  repositoryId: string,
  branchName: string,
): Promise<string | null> {
  const owner = await firstRow<{ cardId: string }>(
    db,
    `select c.id as "cardId" from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = :repositoryId and cr.branch_name = :branchName and c.deleted_at is null`,
    { repositoryId, branchName },
  );
  return owner?.cardId ?? null;
}

/** Whether a card has a branch in a repository: one that is gone does not count. */
export async function ownsBranchIn(db: Db, cardId: string, repositoryId: string): Promise<boolean> {
  const row = await db("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .whereNotNull("branch_name")
    .whereNotNull("head_sha")
    .first("card_id");
  return row !== undefined;
}

/** The card whose pull request this is, or null. */
export async function findPullRequestOwner(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<string | null> {
  const owner = await firstRow<{ cardId: string }>(
    db,
    `select c.id as "cardId" from pull_requests p join cards c on c.id = p.card_id
      where p.repository_id = :repositoryId and p.number = :number and c.deleted_at is null`,
    { repositoryId, number },
  );
  return owner?.cardId ?? null;
}

/** An open pull request of a card, as it is asked about on the forge. */
export interface OpenPullRequest {
  readonly fullName: string;
  readonly branchName: string;
  readonly number: number;
  /** Null while nothing may be asked there. */
  readonly ref: RepositoryRef | null;
}

/** Of each of a card's repositories the pull request that is open, by the repository's name; the newest one of several. */
export async function listOpenPullRequests(db: Db, cardId: string): Promise<OpenPullRequest[]> {
  return rows<OpenPullRequest>(
    db,
    `select distinct on (r.full_name, r.id) r.full_name as "fullName", cr.branch_name as "branchName", p.number,
            ${REF} as ref
       from pull_requests p
       join card_repositories cr on cr.card_id = p.card_id and cr.repository_id = p.repository_id
       join repositories r on r.id = p.repository_id
       join organizations o on o.id = r.organization_id
      where p.card_id = :cardId and p.state in ('draft', 'open') and cr.branch_name is not null
      order by r.full_name, r.id, p.number desc`,
    { cardId },
  );
}

export interface PullRequestRow {
  readonly repositoryId: string;
  readonly number: number;
  readonly cardId: string;
  readonly nodeId: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
  readonly mergeSha: string | null;
  /** The forge's time of this news (ISO 8601); absent for what we did ourselves just now. */
  readonly heardAt?: string | null;
}

/**
 * Records what a pull request looks like now. Older news than what is known changes nothing, and merged is final: the
 * forge was seen calling a merged pull request open again (https://github.com/rust-lang/bors, `github_reopens_merged_pr`).
 * True where nothing was known of it.
 */
export async function savePullRequest(db: Db, pull: PullRequestRow): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into pull_requests as p (repository_id, number, card_id, node_id, target_branch, state, head_sha, merge_sha, heard_at)
     values (:repositoryId, :number, :cardId, :nodeId, :targetBranch, :state, :headSha, :mergeSha, :heardAt)
     on conflict (repository_id, number) do update
       set target_branch = excluded.target_branch, state = excluded.state, head_sha = excluded.head_sha, changed_at = now(),
           merge_sha = coalesce(excluded.merge_sha, p.merge_sha),
           heard_at = coalesce(excluded.heard_at, p.heard_at)
       where (p.state <> 'merged' or excluded.state = 'merged')
         and (excluded.state = 'merged' or excluded.heard_at is null or p.heard_at is null
              or excluded.heard_at >= p.heard_at)
     returning xmax = 0 as "isNew"`,
    { heardAt: null, ...pull },
  );
  return saved?.isNew ?? false;
}

/** Makes an open pull request a card's, whichever card had it before. True where nothing was known of it. */
export async function adoptPullRequest(trx: Trx, pull: PullRequestRow): Promise<boolean> {
  await trx("pull_requests")
    .where({ repository_id: pull.repositoryId, number: pull.number })
    .update({ card_id: pull.cardId });
  return savePullRequest(trx, pull);
}

/** What is known of a pull request; null when nothing is. */
export async function findPullRequest(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<Pick<PullRequestRow, "state" | "headSha" | "targetBranch" | "heardAt"> | null> {
  const row = await firstRow<
    Pick<PullRequestRow, "state" | "headSha" | "targetBranch"> & { heardAt: Date | null }
  >(
    db,
    `select state, head_sha as "headSha", target_branch as "targetBranch", heard_at as "heardAt"
       from pull_requests where repository_id = :repositoryId and number = :number`,
    { repositoryId, number },
  );
  return row && { ...row, heardAt: row.heardAt?.toISOString() ?? null };
}

/** Whether any card, a deleted one included, has or had this branch. */
export async function isBranchTaken(db: Db, repositoryId: string, branchName: string): Promise<boolean> {
  const row = await db("card_repositories")
    .where({ repository_id: repositoryId, branch_name: branchName })
    .first("card_id");
  return row !== undefined;
}

export interface OwnedBranch {
  readonly cardId: string;
  readonly branchName: string;
  readonly headSha: string | null;
}

/** The cards' branches that are at this commit, or that are among these names: news of a commit may outrun its push. */
export async function listBranchesAt(
  db: Db,
  repositoryId: string,
  sha: string,
  branchNames: readonly string[],
): Promise<OwnedBranch[]> {
  return rows<OwnedBranch>(
    db,
    `select c.id as "cardId", cr.branch_name as "branchName", cr.head_sha as "headSha"
       from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = :repositoryId and c.deleted_at is null
        and (cr.head_sha = :sha or cr.branch_name = any(:branchNames))
      order by c.id`,
    { repositoryId, sha, branchNames: [...branchNames] },
  );
}

/** A card's branch in a repository as it is known, held until the transaction ends. */
export interface HeldBranch {
  readonly headSha: string | null;
  /** The last change that was found rather than told: when (ISO 8601), and what it came to. */
  readonly foundAt: string | null;
  readonly foundSha: string | null;
}

export async function holdBranch(trx: Trx, cardId: string, repositoryId: string): Promise<HeldBranch | null> {
  const row = await firstRow<Omit<HeldBranch, "foundAt"> & { foundAt: Date | null }>(
    trx,
    `select head_sha as "headSha", found_at as "foundAt", found_sha as "foundSha" from card_repositories
      where card_id = :cardId and repository_id = :repositoryId for no key update`,
    { cardId, repositoryId },
  );
  return row && { ...row, foundAt: row.foundAt?.toISOString() ?? null };
}

/** Notes a change of a branch that nobody told of. */
export async function noteFound(
  trx: Trx,
  cardId: string,
  repositoryId: string,
  found: { readonly at: string; readonly sha: string | null },
): Promise<void> {
  await trx("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .update({ found_at: found.at, found_sha: found.sha });
}

/** A pull request's state as it is known, held until the transaction ends; null where it is not known yet. */
export async function holdPullRequest(
  trx: Trx,
  repositoryId: string,
  number: number,
): Promise<{ readonly state: LinkedPullRequest["state"] } | null> {
  return firstRow(
    trx,
    `select state from pull_requests where repository_id = :repositoryId and number = :number for no key update`,
    { repositoryId, number },
  );
}
