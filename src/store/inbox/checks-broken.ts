import type { DerivedKind } from "./kinds.ts";

/**
 * Checks are failing on the branch of a card whose pull request is open and which is past the stages of drafts, in a flow that heeds checks.
 * It lasts from the report that turned the branch's tip red to the one that does so no more, or to the next push.
 *
 * It starts from the open pull requests, which are few whatever was merged before; only what is failing is looked up on the timeline.
 */
export const checksBroken: DerivedKind = {
  kind: "checks_broken",
  sql: `
    select c.project_id, c.id as card_id, cr.repository_id, cast(t.id as text) as happening, t.at,
           'Checks are failing on pull request #' || p.number || ': ' || array_to_string(failing.names, ', ') || '.' as detail,
           jsonb_build_object('prNumber', p.number, 'branchName', cr.branch_name, 'sha', cr.head_sha,
                              'failing', failing.names) as data
      from repositories r
      join projects f on f.id = r.project_id and f.checks = 'required'
      join pull_requests p on p.repository_id = r.id and p.state in ('draft', 'open')
      join cards c on c.id = p.card_id and c.deleted_at is null
      join stages s on s.id = c.stage_id and s.rule_type in ('pull_request', 'merge')
      join card_repositories cr on cr.card_id = c.id and cr.repository_id = r.id
      join lateral (select array_agg(k.name order by k.name) as names from check_reports k
                     where k.repository_id = r.id and k.sha = cr.head_sha and k.outcome = 'failing'
                   ) failing on failing.names is not null
      join lateral (select t.id, t.at from timeline_items t
                     where failing.names is not null
                       and t.card_id = c.id and t.kind = 'checks_changed' and t.repository_id = r.id
                       and t.data->>'sha' = cr.head_sha and t.data->>'to' = 'failing'
                     order by t.seq desc limit 1) t on true
     where r.project_id = :projectId
       and not exists (select 1 from pull_requests newer
                        where newer.card_id = c.id and newer.repository_id = r.id and newer.number > p.number
                          and newer.state in ('draft', 'open'))`,
};
