import { kindOn } from "../tenancy/users.ts";
import type { DerivedKind } from "./kinds.ts";

/** An agent's pull request aims at a card's branch: merging it approves it, and only the forge can do that. A draft is one, too: agents leave them so. */
export const proposalWaiting: DerivedKind = {
  kind: "proposal_waiting",
  sql: `
    select c.project_id, c.id as card_id, p.repository_id,
           p.repository_id || ' ' || p.number || ' ' || p.round as happening, p.opened_at as at,
           u.name || ' proposes with pull request #' || p.number || ': ' || p.title as detail,
           jsonb_build_object('prNumber', p.number, 'title', p.title, 'headBranch', p.head_branch,
                              'targetBranch', p.target_branch, 'isDraft', p.state = 'draft', 'login', u.login) as data
      from repositories r
      join proposals p on p.repository_id = r.id and p.state in ('draft', 'open')
      join cards c on c.id = p.card_id and c.project_id = r.project_id and c.deleted_at is null
      join users u on u.id = p.author_id and ${kindOn("c.workspace_id", "u")} = 'agent'
     where r.project_id = :projectId`,
};
