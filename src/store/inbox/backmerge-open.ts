import type { DerivedKind } from "./kinds.ts";

/** A landed hotfix is missing from a branch that comes earlier in the flow; told once that was looked at, or could not be for a minute. */
export const backmergeOpen: DerivedKind = {
  kind: "backmerge_open",
  sql: `
    select c.project_id, c.id as card_id, b.repository_id,
           b.card_id || ' ' || b.repository_id || ' ' || b.target_branch || ' ' || b.sha as happening,
           b.landed_at as at,
           coalesce(b.refusal,
                    case when b.pr_number is null then 'The hotfix has landed and is missing from ' || b.target_branch || '.'
                         else 'The hotfix has landed; merge pull request #' || b.pr_number || ' to bring it to '
                              || b.target_branch || '.' end) as detail,
           jsonb_build_object('targetBranch', b.target_branch, 'prNumber', b.pr_number,
                              'branchName', b.branch_name, 'sha', b.sha) as data
      from repositories r
      join backmerges b on b.repository_id = r.id and b.cleared_at is null
       and (b.pr_number is not null or b.refusal is not null or b.landed_at < now() - interval '1 minute')
      join cards c on c.id = b.card_id and c.project_id = r.project_id and c.deleted_at is null
     where r.project_id = any(:projectIds)`,
};
