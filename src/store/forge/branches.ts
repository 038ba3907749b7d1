import type { CheckOutcome } from "../../flow/checks.ts";
import { IS_ABOUT_BRANCH } from "../cards/card-columns.ts";
import { CARD_HEAD, type CardHead } from "../cards/cards.ts";
import { column, exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { unlessTaken } from "../db/transaction.ts";
import { trunksSql } from "./trunks.ts";

interface NamedBranch {
  readonly name: string;
  /** Null if the branch is deleted. */
  readonly headSha: string | null;
}

/** Sets the branch that a card owns in a repository. */
export async function setBranch(
  db: Db,
  cardId: string,
  repositoryId: string,
  branch: NamedBranch,
): Promise<void> {
  await db("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .update({ branch_name: branch.name, head_sha: branch.headSha, changed_at: db.fn.now() });
}

/**
 * Sets the branch of a card, also if a deleted card owned it. False if another card owns it; the
 * caller must then roll back.
 */
export async function takeBranch(
  trx: Trx,
  cardId: string,
  repositoryId: string,
  branch: NamedBranch,
): Promise<boolean> {
  await trx("card_repositories")
    .where({ repository_id: repositoryId, branch_name: branch.name })
    .whereIn("card_id", trx("cards").whereNotNull("deleted_at").select("id"))
    .update({ branch_name: null, head_sha: null });
  return unlessTaken(setBranch(trx, cardId, repositoryId, branch));
}

/** Sets the tip of a card's branch; null if the branch is deleted. */
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

/** The card with this branch; null if no card has it, or only a deleted one. */
export async function findBranchOwner(
  db: Db,
  repositoryId: string,
  branchName: string,
): Promise<CardHead | null> {
  return firstRow<CardHead>(
    db,
    `${CARD_HEAD} where deleted_at is null and id in (
       select card_id from card_repositories
        where repository_id = :repositoryId and branch_name = :branchName and project_id is not null)`,
    { repositoryId, branchName },
  );
}

/** The numbers of the cards that own these branches of a repository, by branch. */
export async function mapBranchOwners(
  db: Db,
  repositoryId: string,
  branchNames: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const owned = await rows<{ branchName: string; number: number }>(
    db,
    `select cr.branch_name as "branchName", c.number
       from card_repositories cr join cards c on c.id = cr.card_id
      where cr.repository_id = :repositoryId and cr.branch_name = any(cast(:branchNames as text[]))
        and cr.project_id is not null and c.deleted_at is null`,
    { repositoryId, branchNames: [...branchNames] },
  );
  return new Map(owned.map(({ branchName, number }) => [branchName, number]));
}

/** Whether a branch is a trunk, the default branch, or a release branch, so that no card can own it. */
export async function isSharedBranch(db: Db, repositoryId: string, branchName: string): Promise<boolean> {
  return exists(
    db,
    `select 1 from (${trunksSql("r.id = :repositoryId")}) t where t.branch_name = :branchName
      union all
     select 1 from repositories where id = :repositoryId and default_branch = :branchName
      union all
     select 1 from release_branches where repository_id = :repositoryId and branch_name = :branchName`,
    { repositoryId, branchName },
  );
}

/** Whether a card has an existing branch in a repository. */
export async function ownsBranchIn(db: Db, cardId: string, repositoryId: string): Promise<boolean> {
  const row = await db("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .whereNotNull("branch_name")
    .whereNotNull("head_sha")
    .first("card_id");
  return row !== undefined;
}

/** Whether any card has this branch, deleted cards included. */
export async function isBranchTaken(db: Db, repositoryId: string, branchName: string): Promise<boolean> {
  return exists(
    db,
    `select 1 from card_repositories
      where repository_id = :repositoryId and branch_name = :branchName and project_id is not null`,
    { repositoryId, branchName },
  );
}

/** The branch that a card had when it was unlinked, or null. Skips branches of other cards. */
export async function findFormerBranch(db: Db, cardId: string, repositoryId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select l.branch_name as "branchName" from former_branches l
      where l.card_id = :cardId and l.repository_id = :repositoryId
        and not exists (select 1 from card_repositories cr
                         where cr.repository_id = l.repository_id and cr.branch_name = l.branch_name
                           and cr.project_id is not null)
      order by l.left_at desc limit 1`,
    { cardId, repositoryId },
  );
}

interface OwnedBranch {
  readonly cardId: string;
  readonly branchName: string;
  readonly headSha: string | null;
}

/** Also finds branches by name, because events about a commit may arrive before its push. */
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
      where cr.repository_id = :repositoryId and cr.project_id is not null and c.deleted_at is null
        and (cr.head_sha = :sha or cr.branch_name = any(:branchNames))
      order by c.id`,
    { repositoryId, sha, branchNames: [...branchNames] },
  );
}

export interface LockedBranch {
  readonly headSha: string | null;
  /** The last change that was found without a webhook: its time (ISO 8601) and the tip. */
  readonly comparedAt: string | null;
  readonly comparedSha: string | null;
}

/** Locks a card's branch until the transaction ends and returns its state. */
export async function lockBranch(
  trx: Trx,
  cardId: string,
  repositoryId: string,
): Promise<LockedBranch | null> {
  const row = await firstRow<Omit<LockedBranch, "comparedAt"> & { comparedAt: Date | null }>(
    trx,
    `select head_sha as "headSha", compared_at as "comparedAt", compared_sha as "comparedSha" from card_repositories
      where card_id = :cardId and repository_id = :repositoryId for no key update`,
    { cardId, repositoryId },
  );
  return row && { ...row, comparedAt: row.comparedAt?.toISOString() ?? null };
}

/** Records a change of a branch that was found without a webhook. */
export async function recordFoundByComparison(
  trx: Trx,
  cardId: string,
  repositoryId: string,
  found: { readonly at: string; readonly sha: string | null },
): Promise<void> {
  await trx("card_repositories")
    .where({ card_id: cardId, repository_id: repositoryId })
    .update({ compared_at: found.at, compared_sha: found.sha });
}

export interface CheckReport {
  readonly repositoryId: string;
  readonly sha: string;
  readonly source: "check_run" | "check_suite" | "status";
  readonly name: string;
  readonly appId: number;
  /** Null for statuses. */
  readonly suiteId: number | null;
  /** The id of the run or status. A later run of the same name and suite has a higher one. */
  readonly forgeId: number;
  readonly outcome: CheckOutcome;
  readonly branchNames: readonly string[];
}

/** SQL: the branches of the stored report `k` and of the new one. */
export const ADDED_BRANCHES = "array(select distinct unnest(k.branch_names || excluded.branch_names))";

/**
 * Saves a report unless the stored one is newer. False if nothing changed. Deliveries arrive in any
 * order, so an outcome of the same run (`forgeId`) never becomes pending again.
 */
export async function saveCheckReport(db: Db, report: CheckReport): Promise<boolean> {
  return exists(
    db,
    `insert into check_reports as k (repository_id, sha, source, name, app_id, suite_id, forge_id, outcome, branch_names)
     values (:repositoryId, :sha, :source, :name, :appId, coalesce(:suiteId, 0), :forgeId, :outcome, :branchNames)
     on conflict (repository_id, sha, source, name, app_id, suite_id) do update
       set forge_id = excluded.forge_id, outcome = excluded.outcome, changed_at = now(),
           branch_names = ${ADDED_BRANCHES}
       where excluded.forge_id > k.forge_id
          or (excluded.forge_id = k.forge_id and excluded.outcome <> k.outcome and excluded.outcome <> 'pending')
     returning sha`,
    { ...report, branchNames: [...report.branchNames] },
  );
}

/** Deletes the report on a suite that had no runs, because it has some now. */
export async function deleteEmptySuite(
  db: Db,
  { repositoryId, sha, suiteId }: Pick<CheckReport, "repositoryId" | "sha" | "suiteId">,
): Promise<void> {
  await db("check_reports")
    .where({ repository_id: repositoryId, sha, source: "check_suite", suite_id: suiteId ?? 0 })
    .delete();
}

/**
 * Whether another check suite has another outcome of a report's name. Either belongs to another
 * workflow or event, or the newer one replaces the older one: webhooks do not tell. A pending run
 * matters only if it may replace a failing one.
 */
export async function differsBetweenSuites(
  db: Db,
  { repositoryId, sha, name, appId, suiteId, outcome }: CheckReport,
): Promise<boolean> {
  return exists(
    db,
    `select 1 from check_reports where repository_id = :repositoryId and sha = :sha and app_id = :appId
        and suite_id <> :suiteId and outcome <> :outcome and (:outcome <> 'pending' or outcome = 'failing')
        and (source = 'check_suite' or (source = 'check_run' and name = :name))`,
    { repositoryId, sha, name, appId, suiteId, outcome },
  );
}

/** Lists the outcomes of all checks at a commit. */
export async function listCheckOutcomes(db: Db, repositoryId: string, sha: string): Promise<CheckOutcome[]> {
  return column<CheckOutcome>(
    db,
    "select outcome from check_reports where repository_id = :repositoryId and sha = :sha",
    { repositoryId, sha },
  );
}

/** Lists those that are about the card's branch. The commit is its head, or becomes it. */
export async function listBranchOutcomes(
  db: Db,
  cardId: string,
  repositoryId: string,
  sha: string,
): Promise<CheckOutcome[]> {
  return column<CheckOutcome>(
    db,
    `select k.outcome from check_reports k
       join card_repositories cr on cr.repository_id = k.repository_id and cr.card_id = :cardId
      where k.repository_id = :repositoryId and k.sha = :sha and ${IS_ABOUT_BRANCH}`,
    { cardId, repositoryId, sha },
  );
}
