import type { DerivedKind } from "./kinds.ts";

/** The card's last promotion was refused. Each refused try is a happening of its own. */
export const promotionBlocked: DerivedKind = {
  kind: "promotion_blocked",
  sql: `
    select c.project_id, c.id as card_id,
           (select r.id from card_repositories cr join repositories r on r.id = cr.repository_id
             where cr.card_id = c.id and r.full_name = c.blocked->>'repository') as repository_id,
           c.id || ' ' || (c.blocked->>'at') as happening,
           cast(c.blocked->>'at' as timestamptz) as at,
           c.blocked->>'message' as detail,
           c.blocked as data
      from cards c
     where c.project_id = :projectId and c.blocked is not null and c.deleted_at is null`,
};
