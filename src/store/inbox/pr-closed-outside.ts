import { stillGivenUp } from "./agent-gave-up.ts";
import type { DerivedKind } from "./kinds.ts";

/**
 * Somebody else closed a card's pull request unmerged, and neither reopened nor replaced it. A card in the backlog is parked and one at the end
 * is done with: there is nothing to decide. Where the branch is gone the forge closed the pull request with it, and where an agent gave up by closing it, that is what is told.
 */
export const prClosedOutside: DerivedKind = {
  kind: "pr_closed_outside",
  sql: `
    select c.project_id, c.id as card_id, p.repository_id, cast(t.id as text) as happening, t.at,
           t.login || ' closed pull request #' || p.number || ' without merging it.' as detail,
           jsonb_build_object('prNumber', p.number, 'targetBranch', p.target_branch, 'login', t.login) as data
      from stages s
      join cards c on c.stage_id = s.id and c.deleted_at is null
      join pull_requests p on p.card_id = c.id and p.state = 'closed'
      join card_repositories cr on cr.card_id = c.id and cr.repository_id = p.repository_id
       and cr.head_sha is not null
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
                          and ${stillGivenUp("g")})`,
};
