import type { RepositoryRef } from "../../forge/values.ts";
import { rows, type Db, type Trx } from "../db/connect.ts";
import { READS_LAG } from "./reads-lag.ts";
import { BROKEN, IS_USABLE, REF } from "./repositories.ts";

/** What an inspection has found of a card's branch, compared with a target. */
export interface BranchSnapshot {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly targetBranch: string;
  readonly branchName: string;
  /** Null for a branch that does not exist; `targetSha` likewise. */
  readonly headSha: string | null;
  readonly targetSha: string | null;
  readonly aheadBy: number | null;
  readonly behindBy: number | null;
  /** The open pull request; null without one, as for the facts about it. */
  readonly prNumber: number | null;
  /** Null until GitHub has computed it. */
  readonly mergeable: "mergeable" | "conflicting" | null;
  readonly reviewDecision: "approved" | "changes_requested" | "review_required" | null;
  readonly isInMergeQueue: boolean;
}

/**
 * Saves what an inspection has found, unless a later one has been saved. `askedMsAgo` is when GitHub
 * was asked. Ignores a branch that its card no longer has.
 */
export async function saveSnapshots(
  db: Db,
  snapshots: readonly BranchSnapshot[],
  askedMsAgo: number,
): Promise<void> {
  // Two names of a target, such as none for the default branch, may lead to one snapshot.
  const distinct = new Map(snapshots.map((each) => [keyOf(each), each]));
  if (distinct.size === 0) return;
  await rows(
    db,
    `insert into branch_snapshots as s
            (card_id, repository_id, target_branch, asked_at, branch_name, head_sha, target_sha, ahead_by, behind_by,
             pr_number, mergeable, review_decision, is_in_merge_queue)
     select n."cardId", n."repositoryId", n."targetBranch", clock_timestamp() - :askedMsAgo * interval '1 millisecond',
            n."branchName", n."headSha", n."targetSha", n."aheadBy", n."behindBy", n."prNumber", n.mergeable,
            n."reviewDecision", n."isInMergeQueue"
       from jsonb_to_recordset(cast(:snapshots as jsonb)) n
            ("cardId" uuid, "repositoryId" uuid, "targetBranch" text, "branchName" text, "headSha" text,
             "targetSha" text, "aheadBy" integer, "behindBy" integer, "prNumber" integer, mergeable text,
             "reviewDecision" text, "isInMergeQueue" boolean)
       join card_repositories cr on cr.card_id = n."cardId" and cr.repository_id = n."repositoryId"
                                and cr.branch_name = n."branchName"
      order by n."cardId", n."repositoryId", n."targetBranch"
        for key share of cr
     on conflict (card_id, repository_id, target_branch) do update
       set asked_at = excluded.asked_at, branch_name = excluded.branch_name, head_sha = excluded.head_sha,
           target_sha = excluded.target_sha, ahead_by = excluded.ahead_by, behind_by = excluded.behind_by,
           pr_number = excluded.pr_number, mergeable = excluded.mergeable,
           review_decision = excluded.review_decision, is_in_merge_queue = excluded.is_in_merge_queue
       where excluded.asked_at >= s.asked_at`,
    { snapshots: JSON.stringify([...distinct.values()]), askedMsAgo },
  );
}

const keyOf = ({ cardId, repositoryId, targetBranch }: BranchSnapshot): string =>
  `${cardId} ${repositoryId} ${targetBranch}`;

/** Records a push to a branch: what was found in comparison with it holds no longer. */
export async function recordTargetMoved(
  db: Db,
  target: { readonly repositoryId: string; readonly branchName: string; readonly sha: string | null },
): Promise<void> {
  // The order prevents a deadlock with `saveSnapshots`.
  await rows(
    db,
    `with locked as (
       select card_id, repository_id, target_branch from branch_snapshots
        where repository_id = :repositoryId and target_branch = :branchName
        order by card_id for no key update)
     update branch_snapshots s set target_moved_at = now(), target_moved_to = :sha from locked
      where (s.card_id, s.repository_id, s.target_branch) = (locked.card_id, locked.repository_id, locked.target_branch)`,
    { ...target },
  );
}

/** Records a change of a card's pull request or of its reviews: what was found of it holds no longer. */
export async function recordPullChanged(trx: Trx, cardId: string, repositoryId: string): Promise<void> {
  await rows(
    trx,
    `update branch_snapshots set pull_changed_at = now()
      where card_id = :cardId and repository_id = :repositoryId`,
    { cardId, repositoryId },
  );
}

/** SQL for whether both tips of the snapshot `s` of the branch `cr` are still those that were compared. */
export const HAS_SAME_TIPS = `(
  s.branch_name = cr.branch_name and s.head_sha is not distinct from cr.head_sha
  and (s.target_moved_at is null or s.target_sha is not distinct from s.target_moved_to
       or s.asked_at > s.target_moved_at + ${READS_LAG}))`;

/** SQL for whether the facts about the pull request in the snapshot `s` of the branch `cr` still hold. */
export const HAS_SAME_PULL = `(
  s.branch_name = cr.branch_name and s.head_sha is not distinct from cr.head_sha
  and (s.pull_changed_at is null or s.asked_at > s.pull_changed_at))`;

/** A card's branch whose snapshot is missing or holds no longer. */
export interface StaleBranch {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly forgeRef: RepositoryRef;
  readonly branchName: string;
  readonly targetBranch: string;
}

/**
 * Lists, for an organization, the branches with an open pull request whose snapshot is missing or
 * holds no longer, the one read longest ago first. Skips what was read in the last `minAgeMs`, cards
 * that are being moved, and repositories that GitHub must not be called about.
 */
export const listStaleBranches = (
  db: Db,
  organizationId: string,
  { minAgeMs, limit }: { readonly minAgeMs: number; readonly limit: number },
): Promise<StaleBranch[]> =>
  rows<StaleBranch>(
    db,
    `select cr.card_id as "cardId", cr.repository_id as "repositoryId", ${REF} as "forgeRef",
            cr.branch_name as "branchName", p.target_branch as "targetBranch"
       from pull_requests p
       join repositories r on r.id = p.repository_id
       join organizations o on o.id = r.organization_id
       join card_repositories cr on cr.card_id = p.card_id and cr.repository_id = p.repository_id
       join cards c on c.id = cr.card_id and c.deleted_at is null
       left join branch_snapshots s on s.card_id = cr.card_id and s.repository_id = cr.repository_id
                                   and s.target_branch = p.target_branch
      where o.id = :organizationId and p.state in ('draft', 'open') and ${BROKEN} is null
        and ${IS_USABLE} and cr.branch_name is not null
        and not coalesce(${HAS_SAME_TIPS} and ${HAS_SAME_PULL} and s.mergeable is not null and s.pr_number = p.number, false)
        and (s.asked_at is null or s.asked_at <= now() - :minAgeMs * interval '1 millisecond')
        and not exists (select 1 from operations m where m.card_id = c.id and m.state = 'running')
      order by s.asked_at nulls first, cr.card_id limit :limit`,
    { organizationId, minAgeMs, limit },
  );
