import type { RepositoryRef } from "../../forge/values.ts";
import { CARD_HEAD, type CardHead } from "../cards/cards.ts";
import { exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { REF, hasUsableLink } from "./repositories.ts";

/** How long GitHub's reads may lag behind a write, in SQL. */
export const READS_LAG = "interval '1 minute'";

export interface LinkedPullRequest {
  readonly number: number;
  readonly nodeId: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
  /** The branch it comes from; null where that was not kept yet. */
  readonly headBranch: string | null;
  /** Whether it changed so recently that GitHub's reads may lag. */
  readonly isFresh: boolean;
}

/** Whether a pull request `p` changed so recently that GitHub's reads may lag, in SQL. */
export const IS_FRESH = `p.changed_at > now() - ${READS_LAG}`;

/** The card whose pull request this is, or null. */
export async function findPullRequestOwner(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<CardHead | null> {
  return firstRow<CardHead>(
    db,
    `${CARD_HEAD} where deleted_at is null and id in (
       select p.card_id from pull_requests p
        where p.repository_id = :repositoryId and p.number = :number
          and ${hasUsableLink("p.card_id", "p.repository_id")})`,
    { repositoryId, number },
  );
}

/** An open pull request of a card, as it is asked about on the forge. */
export interface OpenPullRequest {
  readonly fullName: string;
  readonly branchName: string;
  readonly number: number;
  /** Null while nothing may be asked there. */
  readonly ref: RepositoryRef | null;
}

/** The newest open pull request in each of a card's repositories, by the repository's name. */
export async function listOpenPullRequests(db: Db, cardId: string): Promise<OpenPullRequest[]> {
  return rows<OpenPullRequest>(
    db,
    `select distinct on (r.full_name, r.id) r.full_name as "fullName", cr.branch_name as "branchName", p.number,
            case when cr.project_id is not null then ${REF} end as ref
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
  readonly headBranch: string;
  readonly mergeSha: string | null;
  /** The forge's time of this news (ISO 8601); absent for what we did ourselves just now. */
  readonly heardAt?: string | null;
  /** The action of the GitHub event; `opened` is older than any other. */
  readonly heardAction?: string | null;
}

/**
 * Records what a pull request looks like now. Older news than what is known changes nothing, and
 * merged is final: the forge was seen calling a merged pull request open again
 * (https://github.com/rust-lang/bors, `github_reopens_merged_pr`). True where nothing was known of
 * it.
 */
export async function savePullRequest(db: Db, pull: PullRequestRow): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into pull_requests as p
            (repository_id, number, card_id, node_id, target_branch, state, head_sha, head_branch, merge_sha, heard_at,
             heard_action)
     values (:repositoryId, :number, :cardId, :nodeId, :targetBranch, :state, :headSha, :headBranch, :mergeSha, :heardAt,
             :heardAction)
     on conflict (repository_id, number) do update
       set target_branch = excluded.target_branch, state = excluded.state, head_sha = excluded.head_sha,
           head_branch = excluded.head_branch, changed_at = now(),
           merge_sha = coalesce(excluded.merge_sha, p.merge_sha),
           heard_at = coalesce(excluded.heard_at, p.heard_at),
           heard_action = case when excluded.heard_at is null then p.heard_action else excluded.heard_action end
       where (p.state <> 'merged' or excluded.state = 'merged') and excluded.heard_action is distinct from 'opened'
         and (excluded.state = 'merged' or excluded.heard_at is null or p.heard_at is null
              or excluded.heard_at >= p.heard_at)
     returning xmax = 0 as "isNew"`,
    { heardAt: null, heardAction: null, ...pull },
  );
  return saved?.isNew ?? false;
}

/** Whether a pull request with these branches and a number above `after` is fresh. */
export async function isHeardOf(
  db: Db,
  pull: Pick<PullRequestRow, "repositoryId" | "headBranch" | "targetBranch">,
  after: number,
): Promise<boolean> {
  const { repositoryId, headBranch, targetBranch } = pull;
  return exists(
    db,
    `select 1 from pull_requests p
      where p.repository_id = :repositoryId and p.head_branch = :headBranch and p.target_branch = :targetBranch
        and p.number > :after and ${IS_FRESH}`,
    { repositoryId, headBranch, targetBranch, after },
  );
}

/** Assigns an open pull request to a card. True when it was unknown before. */
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
): Promise<Pick<PullRequestRow, "state" | "headSha" | "targetBranch" | "heardAt" | "heardAction"> | null> {
  const row = await firstRow<
    Pick<PullRequestRow, "state" | "headSha" | "targetBranch" | "heardAction"> & { heardAt: Date | null }
  >(
    db,
    `select state, head_sha as "headSha", target_branch as "targetBranch", heard_at as "heardAt",
            heard_action as "heardAction"
       from pull_requests where repository_id = :repositoryId and number = :number`,
    { repositoryId, number },
  );
  return row && { ...row, heardAt: row.heardAt?.toISOString() ?? null };
}

/** The stored state of a pull request, locked until the transaction ends; null when unknown. */
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

/** Another person's or agent's pull request into a card's branch. */
interface Proposal {
  readonly repositoryId: string;
  readonly number: number;
  readonly cardId: string;
  readonly authorId: string;
  readonly title: string;
  readonly headBranch: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
  /** The forge's time of this news (ISO 8601). */
  readonly heardAt: string | null;
}

/** Saves a proposal unless the stored one is newer or merged. True when it was unknown before. */
export async function saveProposal(db: Db, proposal: Proposal): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into proposals as p
            (repository_id, number, card_id, author_id, title, head_branch, target_branch, state, head_sha, opened_at, heard_at)
     values (:repositoryId, :number, :cardId, :authorId, :title, :headBranch, :targetBranch, :state, :headSha,
             coalesce(cast(:heardAt as timestamptz), now()), :heardAt)
     on conflict (repository_id, number) do update
       set card_id = excluded.card_id, title = excluded.title, target_branch = excluded.target_branch,
           state = excluded.state, head_sha = excluded.head_sha,
           round = p.round + case when ${IS_REOPENED} then 1 else 0 end,
           opened_at = case when ${IS_REOPENED} then excluded.opened_at else p.opened_at end,
           revived_after = case when ${IS_REOPENED} or excluded.head_sha <> p.head_sha
             then coalesce((select max(t.seq) from timeline_items t where t.card_id = excluded.card_id), 0)
             else p.revived_after end,
           heard_at = coalesce(excluded.heard_at, p.heard_at)
       where (p.state <> 'merged' or excluded.state = 'merged')
         and (excluded.state = 'merged' or excluded.heard_at is null or p.heard_at is null
              or excluded.heard_at >= p.heard_at)
     returning xmax = 0 as "isNew"`,
    { ...proposal },
  );
  return saved?.isNew ?? false;
}

const IS_REOPENED = "(p.state = 'closed' and excluded.state in ('draft', 'open'))";

/** Removes a proposal that no longer targets a card's branch. */
export async function removeProposal(db: Db, repositoryId: string, number: number): Promise<void> {
  await db("proposals").where({ repository_id: repositoryId, number }).delete();
}
