import { isoTime } from "../db/connect.ts";
import { CHECKS_PRECEDENCE } from "../../flow/checks.ts";
import { HAS_SAME_PULL, HAS_SAME_TIPS } from "../forge/branch-snapshots.ts";
import { userJsonSql } from "../tenancy/users.ts";
import { CARD_ARMED } from "./armed-moves.ts";
import { CARD_CLAIM } from "./claim-columns.ts";
import { cardLabelsJson } from "./labels.ts";

/** SQL for the state of the check reports `k`, generated from the rule in `flow/checks.ts`. */
export const CHECKS_STATE = `case ${CHECKS_PRECEDENCE.map(
  ([state, from]) =>
    `when bool_or(k.outcome in (${from.map((outcome) => `'${outcome}'`).join(", ")})) then '${state}'`,
).join(" ")} end`;

/**
 * SQL for whether the report `k` at the head of the branch `cr` is about that branch: it ran for the
 * branch, or the branch has a pull request with this head. A branch that was just created has the
 * same head as its base.
 */
export const IS_ABOUT_BRANCH = `(
    cr.branch_name = any(k.branch_names)
    or exists (select 1 from pull_requests p
                where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                  and p.head_sha = cr.head_sha and p.state <> 'closed'))`;

/** SQL for what a board shows of the branch `cr` of the tables of `FROM_REPOSITORIES`, by field. */
const BOARD_FACTS = {
  fullName: "r.full_name",
  branchName: "cr.branch_name",
  prNumber: "pr.number",
  prState: "pr.state",
  checksState: `(select ${CHECKS_STATE} from check_reports k
                  where k.repository_id = cr.repository_id and k.sha = cr.head_sha
                    and cr.project_id is not null and ${IS_ABOUT_BRANCH})`,
  reviewState: `case when ${HAS_SAME_PULL} and s.pr_number = pr.number then s.review_decision end`,
  isBehind: `case when ${HAS_SAME_TIPS} then s.behind_by > 0 end`,
  hasConflicts: `case when ${HAS_SAME_TIPS} and s.pr_number = pr.number then s.mergeable = 'conflicting' end`,
  isInMergeQueue: `case when ${HAS_SAME_PULL} and s.pr_number = pr.number then s.is_in_merge_queue end`,
};

/** SQL for what a card shows of it. */
const CARD_FACTS = {
  ...BOARD_FACTS,
  headSha: "cr.head_sha",
  targetBranch: "pr.target_branch",
  url: "r.forge_url || '/' || r.full_name",
  cloneUrl: "r.forge_url || '/' || r.full_name || '.git'",
  prUrl: "r.forge_url || '/' || r.full_name || '/pull/' || pr.number",
};

const FROM_REPOSITORIES = `
      from card_repositories cr
      join repositories r on r.id = cr.repository_id
      left join lateral (select p.number, p.state, p.target_branch from pull_requests p
                          where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                          order by p.state in ('draft', 'open') desc, p.number desc limit 1) pr on true
      left join branch_snapshots s on s.card_id = cr.card_id and s.repository_id = cr.repository_id
                                  and s.target_branch = pr.target_branch and pr.state in ('draft', 'open')`;

/** SQL for facts about the branches of the card `c` as JSON without spaces. */
const repositoriesJson = (facts: Readonly<Record<string, string>>): string => {
  const columns = Object.entries(facts).map(([field, sql]) => `${sql} as "${field}"`);
  return `
  coalesce((select json_agg(facts order by facts."fullName")
              from (select ${columns.join(", ")} ${FROM_REPOSITORIES} where cr.card_id = c.id) facts), '[]')`;
};

/** SQL for how many sub-cards the card `c` has, and how many of them are in a last stage. */
const CHILDREN = `(
  select json_build_object('total', count(*), 'done', count(*) filter (where s.kind = 'done'))
    from cards child join stages s on s.id = child.stage_id
   where child.parent_id = c.id and child.deleted_at is null)`;

/** SQL for the number of comments on the card `c`. */
const COMMENT_COUNT = `(
  select count(*) from timeline_items t where t.card_id = c.id and t.type = 'comment' and t.deleted_at is null)`;

const PARENT_NUMBER =
  "(select parent.number from cards parent where parent.id = c.parent_id and parent.deleted_at is null)";

/**
 * The columns of the card `c` with the creator `b` and the assignee `a`, as the API shows it; without
 * the position if it is null.
 */
export const cardColumns = (position: string | null): string => `
  c.id, c.project_id as "projectId", c.number, c.title, c.description, c.stage_id as "statusId",
         ${position === null ? "" : `${position} as position,`}
         c.priority, case when a.id is null then null else ${userJsonSql("c.workspace_id", "a")} end as assignee,
         ${userJsonSql("c.workspace_id", "b")} as "createdBy", c.blocked, ${cardLabelsJson("c")} as labels,
         ${repositoriesJson(CARD_FACTS)} as repositories,
         ${PARENT_NUMBER} as "parentNumber", ${CHILDREN} as children, ${COMMENT_COUNT} as "commentCount",
         c.feature_id as "featureId", c.due_date as "dueDate", c.hotfix,
         ${isoTime("c.created_at")} as "createdAt", ${isoTime("c.updated_at")} as "updatedAt"`;

/** SQL for what a board with details shows of the card `c` besides, as JSON without spaces. */
export const DETAILS_JSON = `(
  select row_to_json(details) from (
    select ${repositoriesJson(BOARD_FACTS)} as repositories, c.blocked,
           (select json_build_object('statusId', o.stage_id, 'waitingFor', a.waiting_for)
              from armed_moves a join operations o on o.id = a.operation_id
             where a.card_id = c.id and a.expires_at > now()) as armed,
           c.due_date as "dueDate", ${PARENT_NUMBER} as "parentNumber", c.feature_id as "featureId",
           ${CHILDREN} as children, ${COMMENT_COUNT} as "commentCount", ${isoTime("c.updated_at")} as "updatedAt") details)`;

/** Columns that the API leaves out if they are null; `shownCard` removes them. */
export const OPTIONAL_COLUMNS = `${CARD_CLAIM} as claim, ${CARD_ARMED} as armed`;

/** The values of `OPTIONAL_COLUMNS`. */
export interface OptionalColumns {
  readonly claim: unknown;
  readonly armed: unknown;
}

/** A card as the API shows it, from a row with `OPTIONAL_COLUMNS`. */
export function shownCard({ claim, armed, ...card }: OptionalColumns): object {
  return { ...card, ...(claim !== null && { claim }), ...(armed !== null && { armed }) };
}

/** The number of cards above: a column of 10,000 cards takes about a millisecond. */
const POSITION = `(
  select count(*) from cards above
   where above.stage_id = c.stage_id and above.deleted_at is null and above.rank < c.rank)`;

export const CARD_COLUMNS = cardColumns(POSITION);

/** The FROM clause for these columns. `cards` is a table or a common table expression. */
export const cardFrom = (cards: string): string => `
    from ${cards} c
    join users b on b.id = c.created_by
    left join users a on a.id = c.assignee_id`;
