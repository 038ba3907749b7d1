import type { DerivedKind } from "./kinds.ts";

/**
 * Checks are failing on the branch of a card whose pull request is open and which is past the stages of drafts, in a flow that heeds checks.
 * It lasts from the report that turned the branch's tip red to the one that does so no more, or to the next push.
 */
export const checksBroken: DerivedKind = {
  kind: "checks_broken",
  sql: `
    select c.project_id, c.id as card_id, cr.repository_id, cast(t.id as text) as happening, t.at,
           'Checks are failing on pull request #' || p.number || ': ' || array_to_string(failing.names, ', ') || '.' as detail,
           jsonb_build_object('prNumber', p.number, 'branchName', cr.branch_name, 'sha', cr.head_sha,
                              'failing', failing.names) as data
      from projects f
      join stages s on s.project_id = f.id and s.rule_type in ('pull_request', 'merge')
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join card_repositories cr on cr.card_id = c.id
      join lateral (select p.number from pull_requests p
                     where p.card_id = c.id and p.repository_id = cr.repository_id and p.state in ('draft', 'open')
                     order by p.number desc limit 1) p on true
      join lateral (select array_agg(k.name order by k.name) as names from check_reports k
                     where k.repository_id = cr.repository_id and k.sha = cr.head_sha and k.outcome = 'failing'
                   ) failing on failing.names is not null
      join lateral (select t.id, t.at from timeline_items t
                     where t.card_id = c.id and t.kind = 'checks_changed' and t.repository_id = cr.repository_id
                       and t.data->>'sha' = cr.head_sha and t.data->>'to' = 'failing'
                     order by t.seq desc limit 1) t on true
     where f.id = any(:projectIds) and f.checks = 'required'`,
};
