import { BROKEN, brokenMessageSql, UNAVAILABLE } from "../forge/repositories.ts";

/** The card's last promotion was refused. Each refused attempt is another item. */
export const PROMOTION_BLOCKED = `
    select c.project_id, c.id as card_id,
           (select r.id from card_repositories cr join repositories r on r.id = cr.repository_id
             where cr.card_id = c.id and r.full_name = c.blocked->>'repository') as repository_id,
           c.id || ' ' || (c.blocked->>'at') as occurrence,
           cast(c.blocked->>'at' as timestamptz) as at,
           c.blocked->>'message' as detail,
           c.blocked as data
      from cards c
     where c.project_id = :projectId and c.blocked is not null and c.deleted_at is null`;

/**
 * Checks fail on the branch of a card that has an open pull request and is past the draft stages,
 * in a flow that requires checks. The query starts from open pull requests, which are few, and
 * reads the timeline only for those with failing checks.
 */
export const CHECKS_BROKEN = `
    select c.project_id, c.id as card_id, cr.repository_id, cast(t.id as text) as occurrence, t.at,
           'Checks are failing on pull request #' || p.number || ': ' || array_to_string(failing.names, ', ') || '.' as detail,
           jsonb_build_object('prNumber', p.number, 'branchName', cr.branch_name, 'sha', cr.head_sha,
                              'failing', failing.names) as data
      from repositories r
      join projects f on f.id = r.project_id and f.checks = 'required'
      join pull_requests p on p.repository_id = r.id and p.state in ('draft', 'open')
      join cards c on c.id = p.card_id and c.deleted_at is null
      join stages s on s.id = c.stage_id and s.rule_type in ('pull_request', 'merge')
      join card_repositories cr on cr.card_id = c.id and cr.repository_id = r.id and cr.project_id = r.project_id
      join lateral (select array_agg(distinct k.name order by k.name) as names from check_reports k
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
                          and newer.state in ('draft', 'open'))`;

/** A card between backlog and done has had no new timeline item for as long as the flow allows. */
export const WAITING_STALE = `
    select c.project_id, c.id as card_id, cast(null as uuid) as repository_id, cast(last.id as text) as occurrence,
           last.at + f.stale_after_days * interval '1 day' as at,
           'No activity since ' || to_char(last.at at time zone 'UTC', 'YYYY-MM-DD')
             || '. The flow allows ' || f.stale_after_days || ' days in ' || s.name || '.' as detail,
           jsonb_build_object('since', to_char(last.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              'staleAfterDays', f.stale_after_days, 'statusId', s.id) as data
      from projects f
      join stages s on s.project_id = f.id and s.kind = 'stage'
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join lateral (select t.id, t.at from timeline_items t
                     where t.card_id = c.id order by t.seq desc limit 1) last
        on last.at < now() - f.stale_after_days * interval '1 day'
     where f.id = :projectId`;

/**
 * A landed hotfix is missing from an earlier target of the flow, or a commit picked into a release
 * is missing from the branch that releases start from. The item appears after the branch was
 * checked, at the latest after a minute.
 */
export const BACKMERGE_OPEN = `
    select c.project_id, c.id as card_id, b.repository_id,
           b.card_id || ' ' || b.repository_id || ' ' || b.target_branch || ' ' || b.sha as occurrence,
           b.landed_at as at,
           coalesce(b.refusal,
                    case when b.release_id is not null
                         then 'Picked into release ' || l.name || ' and missing from ' || b.target_branch || '.'
                         when b.pr_number is null then 'The hotfix has landed and is missing from ' || b.target_branch || '.'
                         else 'The hotfix has landed. Merge pull request #' || b.pr_number || ' to add it to '
                              || b.target_branch || '.' end) as detail,
           jsonb_build_object('targetBranch', b.target_branch, 'prNumber', b.pr_number, 'branchName', b.branch_name,
                              'sha', b.sha, 'releaseId', b.release_id) as data
      from repositories r
      join backmerges b on b.repository_id = r.id and b.cleared_at is null
       and (b.checked_at > b.landed_at or b.landed_at < now() - interval '1 minute')
      join cards c on c.id = b.card_id and c.project_id = r.project_id and c.deleted_at is null
      left join release_cards rc on rc.release_id = b.release_id and rc.card_id = b.card_id
      left join releases l on l.id = b.release_id
     where r.project_id = :projectId
       and (b.release_id is null or rc.picked_at is not null and not exists (
              select 1 from pull_requests p
               where p.card_id = b.card_id and p.repository_id = b.repository_id and p.state = 'merged'
                 and p.target_branch = b.target_branch))`;

/**
 * GitHub refuses calls: one item for an unusable installation, otherwise one per repository of the
 * project that is no longer granted, and one if a card is blocked by missing permissions. Each also
 * says why GitHub does not respond, such as a rate limit.
 */
export const CONNECTION_BROKEN = `
    select p.id as project_id, cast(null as uuid) as card_id, cast(null as uuid) as repository_id,
           'account ' || o.id || ' ' || o.broken_at as occurrence, o.broken_at as at,
           coalesce(o.refused, ${brokenMessageSql(`(case when o.installation_id is null then 'uninstalled' when o.suspended then 'suspended' end)`)}) as detail,
           jsonb_build_object('broken', case when o.installation_id is null then 'uninstalled'
                                             when o.suspended then 'suspended' else 'refused' end,
                              'unavailable', ${UNAVAILABLE}) as data
      from projects p join workspaces w on w.id = p.workspace_id join organizations o on o.id = w.organization_id
     where p.id = :projectId and o.broken_at is not null
       and exists (select 1 from repositories r where r.project_id = p.id)
    union all
    select r.project_id, null, r.id, 'repository ' || r.id || ' ' || r.disconnected_at, r.disconnected_at,
           ${brokenMessageSql("'not_granted'")},
           jsonb_build_object('broken', 'not_granted', 'unavailable', ${UNAVAILABLE})
      from repositories r join organizations o on o.id = r.organization_id
     where r.project_id = :projectId and ${BROKEN} = 'not_granted'
    union all
    select c.project_id, null, null, 'permissions ' || o.id || ' ' || array_to_string(o.missing_permissions, ' '),
           min(cast(c.blocked ->> 'at' as timestamptz)),
           'The installation lacks permissions: ' || array_to_string(o.missing_permissions, ', ')
             || '. An owner of the account can grant them in its settings on GitHub.',
           jsonb_build_object('broken', 'permissions', 'missing', to_jsonb(o.missing_permissions),
                              'unavailable', ${UNAVAILABLE})
      from cards c join workspaces w on w.id = c.workspace_id join organizations o on o.id = w.organization_id
     where c.project_id = :projectId and c.deleted_at is null and o.broken_at is null
       and cardinality(o.missing_permissions) > 0 and c.blocked is not null
       and exists (select 1 from jsonb_array_elements(c.blocked -> 'reasons') r
                    where r ->> 'reason' = 'not_permitted' and r -> 'details' -> 'connection' is null)
     group by c.project_id, o.id`;

/**
 * The service has paused a webhook of the board. The item names the host only: everybody on the
 * board sees it, and the URL may contain a secret.
 */
export const WEBHOOK_PAUSED = `
    select p.id as project_id, cast(null as uuid) as card_id, cast(null as uuid) as repository_id,
           w.id || ' ' || w.paused_at as occurrence, w.paused_at as at,
           'The webhook to ' || substring(w.url from '://([^/?#]+)')
             || case w.paused_reason when 'gone' then ' responded with 410 Gone'
                                     when 'left' then ' is known to somebody who left the board'
                                     else ' has failed for five days' end
             || ' and is paused. A maintainer can resume it.' as detail,
           jsonb_build_object('webhookId', w.id, 'reason', w.paused_reason) as data
      from projects p join webhooks w on w.workspace_id = p.workspace_id
     where p.id = :projectId and w.paused_reason in ('failing', 'gone', 'left')`;
