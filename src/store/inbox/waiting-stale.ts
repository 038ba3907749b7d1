import type { DerivedKind } from "./kinds.ts";

/** Nothing has happened for as long as the flow allows to a card between the backlog and the end: nothing that its timeline would tell. */
export const waitingStale: DerivedKind = {
  kind: "waiting_stale",
  sql: `
    select c.project_id, c.id as card_id, cast(null as uuid) as repository_id, cast(last.id as text) as happening,
           last.at + f.stale_after_days * interval '1 day' as at,
           'Nothing has happened since ' || to_char(last.at at time zone 'UTC', 'YYYY-MM-DD')
             || ': the flow allows ' || f.stale_after_days || ' days in ' || s.name || '.' as detail,
           jsonb_build_object('since', to_char(last.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                              'staleAfterDays', f.stale_after_days, 'statusId', s.id) as data
      from projects f
      join stages s on s.project_id = f.id and s.kind = 'stage'
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join lateral (select t.id, t.at from timeline_items t
                     where t.card_id = c.id order by t.seq desc limit 1) last
        on last.at < now() - f.stale_after_days * interval '1 day'
     where f.id = :projectId`,
};
