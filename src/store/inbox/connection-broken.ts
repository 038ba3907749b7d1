import { BROKEN, brokenWords } from "../forge/repositories.ts";
import type { DerivedKind } from "./kinds.ts";

/**
 * Nothing can be done on the forge: one item where the whole account is out of reach, else one for each repository of the project that is no
 * longer granted; and one where a card was refused for want of a permission that the account has to grant.
 */
export const connectionBroken: DerivedKind = {
  kind: "connection_broken",
  sql: `
    select p.id as project_id, cast(null as uuid) as card_id, cast(null as uuid) as repository_id,
           'account ' || o.id || ' ' || o.broken_at as happening, o.broken_at as at,
           coalesce(o.refused, ${brokenWords(`(case when o.installation_id is null then 'uninstalled' when o.suspended then 'suspended' end)`)}) as detail,
           jsonb_build_object('broken', case when o.installation_id is null then 'uninstalled'
                                             when o.suspended then 'suspended' else 'refused' end) as data
      from projects p join workspaces w on w.id = p.workspace_id join organizations o on o.id = w.organization_id
     where p.id = :projectId and o.broken_at is not null
       and exists (select 1 from repositories r where r.project_id = p.id)
    union all
    select r.project_id, null, r.id, 'repository ' || r.id || ' ' || r.disconnected_at, r.disconnected_at,
           ${brokenWords("'not_granted'")}, jsonb_build_object('broken', 'not_granted')
      from repositories r join organizations o on o.id = r.organization_id
     where r.project_id = :projectId and ${BROKEN} = 'not_granted'
    union all
    select c.project_id, null, null, 'permissions ' || o.id || ' ' || array_to_string(o.missing_permissions, ' '),
           min(cast(c.blocked ->> 'at' as timestamptz)),
           'This account does not grant the App what it needs: ' || array_to_string(o.missing_permissions, ', ')
             || '. An owner of the account can accept that in its settings on the forge.',
           jsonb_build_object('broken', 'permissions', 'missing', to_jsonb(o.missing_permissions))
      from cards c join workspaces w on w.id = c.workspace_id join organizations o on o.id = w.organization_id
     where c.project_id = :projectId and c.deleted_at is null and o.broken_at is null
       and cardinality(o.missing_permissions) > 0 and c.blocked is not null
       and exists (select 1 from jsonb_array_elements(c.blocked -> 'reasons') r
                    where r ->> 'reason' = 'not_permitted' and r -> 'details' -> 'connection' is null)
     group by c.project_id, o.id`,
};
