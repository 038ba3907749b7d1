import type { DerivedKind } from "./kinds.ts";

/**
 * A landed hotfix is missing from a branch that comes earlier in the flow, or what was picked into a release from another branch never came to
 * the one releases are cut from. Told once that was looked at, or could not be for a minute.
 */
export const backmergeOpen: DerivedKind = {
  kind: "backmerge_open",
  sql: `
    select c.project_id, c.id as card_id, b.repository_id,
           b.card_id || ' ' || b.repository_id || ' ' || b.target_branch || ' ' || b.sha as happening,
           b.landed_at as at,
           coalesce(b.refusal,
                    case when b.release_id is not null
                         then 'Picked into release ' || l.name || ' and missing from ' || b.target_branch || '.'
                         when b.pr_number is null then 'The hotfix has landed and is missing from ' || b.target_branch || '.'
                         else 'The hotfix has landed; merge pull request #' || b.pr_number || ' to bring it to '
                              || b.target_branch || '.' end) as detail,
           jsonb_build_object('targetBranch', b.target_branch, 'prNumber', b.pr_number, 'branchName', b.branch_name,
                              'sha', b.sha, 'releaseId', b.release_id) as data
      from repositories r
      join backmerges b on b.repository_id = r.id and b.cleared_at is null
       and (b.looked_at > b.landed_at or b.landed_at < now() - interval '1 minute')
      join cards c on c.id = b.card_id and c.project_id = r.project_id and c.deleted_at is null
      left join release_cards rc on rc.release_id = b.release_id and rc.card_id = b.card_id
      left join releases l on l.id = b.release_id
     where r.project_id = :projectId
       and (b.release_id is null or rc.picked_at is not null and not exists (
              select 1 from pull_requests p
               where p.card_id = b.card_id and p.repository_id = b.repository_id and p.state = 'merged'
                 and p.target_branch = b.target_branch))`,
};
