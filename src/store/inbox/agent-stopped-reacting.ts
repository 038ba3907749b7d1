import { kindOn } from "../tenancy/users.ts";
import type { DerivedKind } from "./kinds.ts";

/**
 * Something has been asked on an open pull request that an agent works on, and none of its agents has done anything there since, for as long as
 * the flow allows. It lasts until one does, or nothing is asked any more. It starts from what is asked, which is little.
 */
export const agentStoppedReacting: DerivedKind = {
  kind: "agent_stopped_reacting",
  sql: `
    select c.project_id, c.id as card_id, w.repository_id,
           c.id || ' ' || w.repository_id || ' ' || w.pr_number || ' ' || extract(epoch from w.acted_at) as happening,
           a.asked_at + f.agent_silence_hours * interval '1 hour' as at,
           w.login || ' has not reacted to ' || a.words || ' on pull request #' || p.number || ' since '
             || to_char(a.asked_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.' as detail,
           jsonb_build_object('prNumber', p.number, 'login', w.login, 'reason', a.kind,
                              'since', to_char(a.asked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              'agentSilenceHours', f.agent_silence_hours) as data
      from (select distinct a.card_id, a.repository_id, a.pr_number
              from repositories r join conversation_asks a on a.repository_id = r.id
             where r.project_id = :projectId) asked
      join cards c on c.id = asked.card_id and c.deleted_at is null
      join stages s on s.id = c.stage_id and s.kind = 'stage'
      join projects f on f.id = s.project_id
      join lateral (select t.repository_id, t.pr_number, max(t.acted_at) as acted_at,
                           (array_agg(u.login order by t.acted_at desc))[1] as login
                      from conversation_turns t join users u on u.id = t.user_id
                     where t.card_id = c.id and t.repository_id = asked.repository_id and t.pr_number = asked.pr_number
                       and t.works and ${kindOn("c.workspace_id", "u")} = 'agent'
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
                                       when 'checks_failing' then 'failing checks' else 'a question' end as words
                      from conversation_asks a
                     where a.card_id = c.id and a.repository_id = w.repository_id and a.pr_number = w.pr_number
                       and a.asked_at > w.acted_at and (a.kind <> 'checks_failing' or a.subject = p.head_sha)
                     order by a.asked_at, a.kind limit 1) a
        on a.asked_at <= now() - f.agent_silence_hours * interval '1 hour'
     where f.id = :projectId`,
};
