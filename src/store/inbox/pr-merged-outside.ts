import type { DerivedKind } from "./kinds.ts";

/**
 * Somebody else merged a card's pull request, and the card stands before the stage that this merge is for. The timeline tells whose merge it
 * was: ours has no login, whoever the forge says did it. Merging happens once.
 */
export const prMergedOutside: DerivedKind = {
  kind: "pr_merged_outside",
  sql: `
    select c.project_id, c.id as card_id, p.repository_id, p.repository_id || ' ' || p.number as happening, t.at,
           t.login || ' merged pull request #' || p.number || ' into ' || p.target_branch || '.' as detail,
           jsonb_build_object('prNumber', p.number, 'targetBranch', p.target_branch, 'sha', p.merge_sha,
                              'login', t.login, 'statusId', m.id) as data
      from stages s
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join pull_requests p on p.card_id = c.id and p.state = 'merged'
      join repositories r on r.id = p.repository_id
      join lateral (select m.id, m.position from stages m
                     where m.project_id = s.project_id and m.rule_type = 'merge'
                       and coalesce(m.rule_into, r.default_branch) = p.target_branch
                     order by m.position limit 1) m on m.position > s.position
      join timeline_items t on t.card_id = c.id
       and t.natural_key = 'pull_request_merged:' || p.repository_id || ':' || p.number
     where s.project_id = :projectId and s.kind <> 'done' and t.login is not null`,
};
