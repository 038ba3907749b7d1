import { userKindSql } from "../tenancy/users.ts";

/**
 * Somebody else merged a card's pull request, and the card is before the stage that merges into
 * this branch. In the timeline, a merge by Trunkline has no login.
 */
export const PR_MERGED_OUTSIDE = `
    select c.project_id, c.id as card_id, p.repository_id, p.repository_id || ' ' || p.number as occurrence, t.at,
           t.login || ' merged pull request #' || p.number || ' into ' || p.target_branch || '.' as detail,
           jsonb_build_object('prNumber', p.number, 'targetBranch', p.target_branch, 'sha', p.merge_sha,
                              'login', t.login, 'statusId', m.id) as data
      from stages s
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join pull_requests p on p.card_id = c.id and p.state = 'merged'
      join repositories r on r.id = p.repository_id and r.project_id = c.project_id
      join lateral (select m.id, m.position from stages m
                     where m.project_id = s.project_id and m.rule_type = 'merge'
                       and coalesce(m.rule_into, r.default_branch) = p.target_branch
                     order by m.position limit 1) m on m.position > s.position
      join timeline_items t on t.card_id = c.id
       and t.natural_key = 'pull_request_merged:' || p.repository_id || ':' || p.number
     where s.project_id = :projectId and s.kind <> 'done' and t.login is not null`;

/**
 * An open pull request of an agent into a card's branch; a person approves it by merging it on
 * GitHub. Drafts count as well, because agents leave their pull requests as drafts.
 */
export const PROPOSAL_WAITING = `
    select c.project_id, c.id as card_id, p.repository_id,
           p.repository_id || ' ' || p.number || ' ' || p.round as occurrence, p.opened_at as at,
           u.name || ' proposes pull request #' || p.number || ': ' || p.title as detail,
           jsonb_build_object('prNumber', p.number, 'title', p.title, 'headBranch', p.head_branch,
                              'targetBranch', p.target_branch, 'isDraft', p.state = 'draft', 'login', u.login,
                              'headSha', p.head_sha) as data
      from repositories r
      join proposals p on p.repository_id = r.id and p.state in ('draft', 'open')
      join cards c on c.id = p.card_id and c.project_id = r.project_id and c.deleted_at is null
      join users u on u.id = p.author_id and ${userKindSql("c.workspace_id", "u")} = 'agent'
     where r.project_id = :projectId`;

/**
 * SQL for whether nobody has continued since the timeline item `t` of kind `agent_gave_up`. Uses
 * subqueries, because PostgreSQL planned an anti-join as a scan of all boards' timelines.
 */
const stillGivenUp = (t: string): string => `
       (select true from timeline_items later
         where later.card_id = ${t}.card_id and later.seq > ${t}.seq
           and (later.kind in ('pushed', 'status_changed', 'pull_request_reopened')
                or (later.kind = 'updated' and later.data->'fields' @> '["assigneeId"]'))
         limit 1) is null
       and (select true from proposals p
             where p.repository_id = ${t}.repository_id and p.number = cast(${t}.data->>'prNumber' as integer)
               and p.revived_after >= ${t}.seq) is null`;

/** An agent gave up, and nobody has since pushed, moved or assigned the card, or reopened it. */
export const AGENT_GAVE_UP = `
    select c.project_id, c.id as card_id, t.repository_id, cast(t.id as text) as occurrence, t.at,
           coalesce(t.data->>'reason',
                    u.name || coalesce(' gave up on pull request #' || (t.data->>'prNumber'), ' gave up')
                      || ' without giving a reason.') as detail,
           jsonb_build_object('prNumber', t.data->'prNumber', 'reason', t.data->'reason', 'login', t.login,
                              'name', u.name) as data
      from stages s
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join lateral (select t.id, t.card_id, t.seq, t.at, t.data, t.login, t.actor_id, t.repository_id
                      from timeline_items t
                     where t.card_id = c.id and t.kind = 'agent_gave_up' order by t.seq desc limit 1) t on true
      join users u on u.id = t.actor_id
     where s.project_id = :projectId and s.kind <> 'done'
       and ${stillGivenUp("t")}`;

/**
 * Somebody else closed a card's pull request without merging it, and nobody reopened or replaced
 * it. Skipped when the branch is deleted (GitHub then closes the pull request), when an agent gave
 * up by closing it, and for cards in the backlog or at the end of the flow.
 */
export const PR_CLOSED_OUTSIDE = `
    select c.project_id, c.id as card_id, p.repository_id, cast(t.id as text) as occurrence, t.at,
           t.login || ' closed pull request #' || p.number || ' without merging it.' as detail,
           jsonb_build_object('prNumber', p.number, 'targetBranch', p.target_branch, 'login', t.login) as data
      from stages s
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join pull_requests p on p.card_id = c.id and p.state = 'closed'
      join card_repositories cr on cr.card_id = c.id and cr.repository_id = p.repository_id
       and cr.project_id is not null and cr.head_sha is not null
      join lateral (select t.id, t.at, t.login from timeline_items t
                     where t.card_id = c.id and t.kind = 'pull_request_closed' and t.repository_id = p.repository_id
                       and t.data->>'prNumber' = cast(p.number as text)
                     order by t.at desc, t.seq desc limit 1) t on t.login is not null
     where s.project_id = :projectId and s.kind = 'stage'
       and not exists (select 1 from pull_requests newer
                        where newer.card_id = p.card_id and newer.repository_id = p.repository_id
                          and newer.target_branch = p.target_branch and newer.number > p.number)
       and not exists (select 1 from timeline_items g
                        where g.card_id = c.id and g.kind = 'agent_gave_up' and g.at = t.at
                          and g.repository_id = p.repository_id and g.data->>'prNumber' = cast(p.number as text)
                          and ${stillGivenUp("g")})`;

/**
 * An open pull request that agents work on has an open request (requested changes, failing checks,
 * a question), and no agent has reacted for as long as the flow allows. The query starts from the
 * open requests, which are few.
 */
export const AGENT_STOPPED_REACTING = `
    select c.project_id, c.id as card_id, w.repository_id,
           c.id || ' ' || w.repository_id || ' ' || w.pr_number || ' ' || extract(epoch from w.acted_at) as occurrence,
           a.asked_at + f.agent_silence_hours * interval '1 hour' as at,
           w.login || ' has not reacted to ' || a.request || ' on pull request #' || p.number || ' since '
             || to_char(a.asked_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.' as detail,
           jsonb_build_object('prNumber', p.number, 'login', w.login, 'reason', a.kind,
                              'since', to_char(a.asked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              'agentSilenceHours', f.agent_silence_hours) as data
      from (select distinct a.card_id, a.repository_id, a.pr_number
              from repositories r join awaited_reactions a on a.repository_id = r.id
             where r.project_id = :projectId) asked
      join cards c on c.id = asked.card_id and c.deleted_at is null
      join stages s on s.id = c.stage_id and s.kind = 'stage' and s.project_id = :projectId
      join projects f on f.id = s.project_id
      join lateral (select t.repository_id, t.pr_number, max(t.acted_at) as acted_at,
                           (array_agg(u.login order by t.acted_at desc))[1] as login
                      from last_reactions t join users u on u.id = t.user_id
                     where t.card_id = c.id and t.repository_id = asked.repository_id and t.pr_number = asked.pr_number
                       and t.works and ${userKindSql("c.workspace_id", "u")} = 'agent'
                     group by t.repository_id, t.pr_number) w on true
      join lateral (select p.number, cr.head_sha
                      from pull_requests p
                      join card_repositories cr on cr.card_id = p.card_id and cr.repository_id = p.repository_id
                     where w.pr_number = 0 and p.card_id = c.id and p.repository_id = w.repository_id
                       and p.state in ('draft', 'open')
                    union all
                    select p.number, p.head_sha from proposals p
                     where p.repository_id = w.repository_id and p.number = w.pr_number and p.card_id = c.id
                       and p.state in ('draft', 'open')
                     order by number desc limit 1) p on true
      join lateral (select a.kind, a.asked_at,
                           case a.kind when 'changes_requested' then 'requested changes'
                                       when 'checks_failing' then 'failing checks' else 'a question' end as request
                      from awaited_reactions a
                     where a.card_id = c.id and a.repository_id = w.repository_id and a.pr_number = w.pr_number
                       and a.asked_at > w.acted_at and (a.kind <> 'checks_failing' or a.subject = p.head_sha)
                     order by a.asked_at, a.kind limit 1) a
        on a.asked_at <= now() - f.agent_silence_hours * interval '1 hour'
     where f.id = :projectId`;
