import type { DerivedKind } from "./kinds.ts";

/**
 * Whether the giving up of the timeline's item `t` has not been gone on from since, in SQL. Looked up for each: an anti-join was planned as a scan
 * of all boards' timelines.
 */
export const stillGivenUp = (t: string): string => `
       (select true from timeline_items later
         where later.card_id = ${t}.card_id and later.seq > ${t}.seq
           and (later.kind in ('pushed', 'status_changed', 'pull_request_reopened')
                or (later.kind = 'updated' and later.data->'fields' @> '["assigneeId"]'))
         limit 1) is null
       and (select true from proposals p
             where p.repository_id = ${t}.repository_id and p.number = cast(${t}.data->>'prNumber' as integer)
               and p.revived_after >= ${t}.seq) is null`;

/** An agent gave up on a card, and since then nobody has pushed, moved the card, assigned it or opened the pull request again. */
export const agentGaveUp: DerivedKind = {
  kind: "agent_gave_up",
  sql: `
    select c.project_id, c.id as card_id, t.repository_id, cast(t.id as text) as happening, t.at,
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
       and ${stillGivenUp("t")}`,
};
