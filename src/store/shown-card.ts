import { CHECKS_STATE } from "./check-reports.ts";
import { WITH_PLACE_NOW } from "./column-counts.ts";
import { isoTime } from "./connect.ts";
import { cardLabelsJson } from "./labels.ts";
import { userJson } from "./users.ts";

const REPOSITORIES = `
  coalesce((
    select json_agg(json_build_object(
             'fullName', r.full_name, 'branchName', cr.branch_name,
             'prNumber', pr.number, 'prState', pr.state,
             'checksState', (select ${CHECKS_STATE} from check_reports k
                              where k.repository_id = cr.repository_id and k.sha = cr.head_sha))
           order by r.full_name)
      from card_repositories cr
      join repositories r on r.id = cr.repository_id
      left join lateral (select p.number, p.state from pull_requests p
                          where p.card_id = cr.card_id and p.repository_id = cr.repository_id
                          order by p.state in ('draft', 'open') desc, p.number desc limit 1) pr on true
     where cr.card_id = c.id), '[]')`;

const PARENT_NUMBER =
  "(select parent.number from cards parent where parent.id = c.parent_id and parent.deleted_at is null)";

/** What a card refers to, in SQL. */
interface References {
  readonly repositories: string;
  readonly labels: string;
  readonly parentNumber: string;
}

const REFERENCES: References = {
  repositories: REPOSITORIES,
  labels: cardLabelsJson("c"),
  parentNumber: PARENT_NUMBER,
};

/** The columns of a card `c` as the API shows it, its creator being `b` and its assignee `a`. */
export const cardColumns = (
  position: string,
  { repositories, labels, parentNumber } = REFERENCES,
): string => `
  c.id, c.project_id as "projectId", c.number, c.title, c.description, c.stage_id as "statusId",
         ${position} as position,
         c.priority, case when a.id is null then null else ${userJson("c.workspace_id", "a")} end as assignee,
         ${userJson("c.workspace_id", "b")} as "createdBy", c.blocked, ${labels} as labels,
         ${repositories} as repositories,
         ${parentNumber} as "parentNumber",
         c.feature_id as "featureId", c.due_date as "dueDate", c.hotfix,
         ${isoTime("c.created_at")} as "createdAt", ${isoTime("c.updated_at")} as "updatedAt"`;

/** The same, where its place is joined as `place`. */
export const CARD_COLUMNS = cardColumns("place.above");

/** Cards from the table, or common table expression, of this name, with those two. */
export const cardFrom = (cards: string): string => `
    from ${cards} c
    join users b on b.id = c.created_by
    left join users a on a.id = c.assignee_id`;

/**
 * The row of `cards` in the common table expression of this name, as the API shows it: one text, `body`, and `stale`, its column if that is to be counted
 * again. Its place is counted when the row is there.
 */
export const shownCard = (changed: string, references = REFERENCES): string =>
  `select to_json(shown)::text as body, case when place.is_stale then c.stage_id end as stale
     ${cardFrom(changed)} ${WITH_PLACE_NOW}
    cross join lateral (select ${cardColumns("place.above", references)}) shown`;
