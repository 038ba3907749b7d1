import type { RepositoryRef } from "../../forge/values.ts";
import { CARD_HEAD, type CardHead } from "../cards/cards.ts";
import { exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { READS_LAG } from "./reads-lag.ts";
import { REF, hasUsableLink } from "./repositories.ts";

export interface LinkedPullRequest {
  readonly number: number;
  readonly nodeId: string;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
  readonly headSha: string;
  readonly headBranch: string | null;
  /** Whether it changed so recently that GitHub may return older state. */
  readonly isFresh: boolean;
}

/** SQL for `isFresh` of the pull request `p`. */
export const IS_FRESH = `p.changed_at > now() - ${READS_LAG}`;

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

export interface OpenPullRequest {
  readonly fullName: string;
  readonly branchName: string;
  readonly number: number;
  /** Null while GitHub must not be called about the repository. */
  readonly forgeRef: RepositoryRef | null;
}

/** Lists the newest open pull request in each of a card's repositories, by repository name. */
export async function listOpenPullRequests(db: Db, cardId: string): Promise<OpenPullRequest[]> {
  return rows<OpenPullRequest>(
    db,
    `select distinct on (r.full_name, r.id) r.full_name as "fullName", cr.branch_name as "branchName", p.number,
            case when cr.project_id is not null then ${REF} end as "forgeRef"
       from pull_requests p
       join card_repositories cr on cr.card_id = p.card_id and cr.repository_id = p.repository_id
       join repositories r on r.id = p.repository_id
       join organizations o on o.id = r.organization_id
      where p.card_id = :cardId and p.state in ('draft', 'open') and cr.branch_name is not null
      order by r.full_name, r.id, p.number desc`,
    { cardId },
  );
}

export interface PullRequestRow extends Omit<LinkedPullRequest, "isFresh"> {
  readonly repositoryId: string;
  readonly cardId: string;
  readonly headBranch: string;
  readonly mergeSha: string | null;
  /** GitHub's time of the event (ISO 8601); absent for a change by Trunkline. */
  readonly eventAt?: string | null;
  /** The action of the event; `opened` is older than any other. */
  readonly eventAction?: string | null;
}

/**
 * Saves a pull request unless the stored state is newer. Merged is final, because GitHub was seen
 * reporting a merged pull request as open (https://github.com/rust-lang/bors,
 * `github_reopens_merged_pr`). True if the pull request is new.
 */
export async function savePullRequest(db: Db, pull: PullRequestRow): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into pull_requests as p
            (repository_id, number, card_id, node_id, target_branch, state, head_sha, head_branch, merge_sha, event_at,
             event_action)
     values (:repositoryId, :number, :cardId, :nodeId, :targetBranch, :state, :headSha, :headBranch, :mergeSha, :eventAt,
             :eventAction)
     on conflict (repository_id, number) do update
       set target_branch = excluded.target_branch, state = excluded.state, head_sha = excluded.head_sha,
           head_branch = excluded.head_branch, changed_at = now(),
           merge_sha = coalesce(excluded.merge_sha, p.merge_sha),
           event_at = coalesce(excluded.event_at, p.event_at),
           event_action = case when excluded.event_at is null then p.event_action else excluded.event_action end
       where (p.state <> 'merged' or excluded.state = 'merged') and excluded.event_action is distinct from 'opened'
         and (excluded.state = 'merged' or excluded.event_at is null or p.event_at is null
              or excluded.event_at >= p.event_at)
     returning xmax = 0 as "isNew"`,
    { eventAt: null, eventAction: null, ...pull },
  );
  return saved?.isNew ?? false;
}

/** Whether a pull request with these branches and a number above `after` changed recently. */
export async function isRecentlySeen(
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

/** Assigns an open pull request to a card and saves it. True if the pull request is new. */
export async function adoptPullRequest(trx: Trx, pull: PullRequestRow): Promise<boolean> {
  await trx("pull_requests")
    .where({ repository_id: pull.repositoryId, number: pull.number })
    .update({ card_id: pull.cardId });
  return savePullRequest(trx, pull);
}

type KnownPullRequest = Pick<
  PullRequestRow,
  "state" | "headSha" | "targetBranch" | "eventAt" | "eventAction"
>;

export async function findPullRequest(
  db: Db,
  repositoryId: string,
  number: number,
): Promise<KnownPullRequest | null> {
  const row = await firstRow<Omit<KnownPullRequest, "eventAt"> & { eventAt: Date | null }>(
    db,
    `select state, head_sha as "headSha", target_branch as "targetBranch", event_at as "eventAt",
            event_action as "eventAction"
       from pull_requests where repository_id = :repositoryId and number = :number`,
    { repositoryId, number },
  );
  return row && { ...row, eventAt: row.eventAt?.toISOString() ?? null };
}

/** Locks a pull request until the transaction ends and returns its state. Null if it is unknown. */
export async function lockPullRequest(
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

/** A pull request of another author into a card's branch. */
interface Proposal extends Omit<PullRequestRow, "nodeId" | "mergeSha" | "eventAt" | "eventAction"> {
  readonly authorId: string;
  readonly title: string;
  /** GitHub's time of the event (ISO 8601). */
  readonly eventAt: string | null;
}

/** Saves a proposal unless the stored state is newer or merged. True if the proposal is new. */
export async function saveProposal(db: Db, proposal: Proposal): Promise<boolean> {
  const saved = await firstRow<{ isNew: boolean }>(
    db,
    `insert into proposals as p
            (repository_id, number, card_id, author_id, title, head_branch, target_branch, state, head_sha, opened_at, event_at)
     values (:repositoryId, :number, :cardId, :authorId, :title, :headBranch, :targetBranch, :state, :headSha,
             coalesce(cast(:eventAt as timestamptz), now()), :eventAt)
     on conflict (repository_id, number) do update
       set card_id = excluded.card_id, title = excluded.title, target_branch = excluded.target_branch,
           state = excluded.state, head_sha = excluded.head_sha,
           round = p.round + case when ${IS_REOPENED} then 1 else 0 end,
           opened_at = case when ${IS_REOPENED} then excluded.opened_at else p.opened_at end,
           revived_after = case when ${IS_REOPENED} or excluded.head_sha <> p.head_sha
             then coalesce((select max(t.seq) from timeline_items t where t.card_id = excluded.card_id), 0)
             else p.revived_after end,
           event_at = coalesce(excluded.event_at, p.event_at)
       where (p.state <> 'merged' or excluded.state = 'merged')
         and (excluded.state = 'merged' or excluded.event_at is null or p.event_at is null
              or excluded.event_at >= p.event_at)
     returning xmax = 0 as "isNew"`,
    { ...proposal },
  );
  return saved?.isNew ?? false;
}

const IS_REOPENED = "(p.state = 'closed' and excluded.state in ('draft', 'open'))";

/** Deletes a proposal that no longer targets a card's branch. */
export async function removeProposal(db: Db, repositoryId: string, number: number): Promise<void> {
  await db("proposals").where({ repository_id: repositoryId, number }).delete();
}
