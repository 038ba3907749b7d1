import type { Role } from "../../flow/roles.ts";
import { rows, type Db } from "../db/connect.ts";
import { actorSql } from "../events/feed.ts";

/**
 * SQL that adds to the feed what a statement changes in the memberships. `changed` is a CTE with the
 * role `before` and `after`, null for none. `:by` is the user who does it, null for the operator.
 */
export const feedMemberships = (changed: string): string => `
  insert into events (workspace_id, kind, actor, data)
  select m.workspace_id, 'member_changed', case when u.id is not null then ${actorSql("m.workspace_id", "null")} end,
         jsonb_build_object('userId', m.user_id, 'from', m.before, 'to', m.after)
    from ${changed} m left join users u on u.id = cast(:by as uuid)`;

/** SQL for what `feedMemberships` reads of deleted memberships. */
export const REMOVED = "workspace_id, user_id, role as before, cast(null as text) as after";

/**
 * SQL for CTEs that end what the users in the CTE `left` chose or know: webhooks are paused, and
 * monitors stopped. A person also knows what their API keys have created.
 */
export const stopKnown = (left: string): string => `
  ${stopKnownMonitors(left)},
  paused as (
    update webhooks w set paused_reason = 'left', paused_at = coalesce(w.paused_at, now()) from knowing k
     where w.workspace_id = k.workspace_id and k.user_id = any(w.known_to))`;

/**
 * SQL for CTEs that replace the secrets of the monitors that the users in the CTE `users` know by
 * random ones that nobody knows.
 */
const stopKnownMonitors = (users: string): string => `
  knowing as (
    select u.workspace_id, u.user_id from ${users} u
     union
    select u.workspace_id, c.user_id from ${users} u join credentials c on c.owner_id = u.user_id),
  stopped as (
    update monitors m
       set secret = gen_random_uuid()::text || gen_random_uuid()::text, stopped_at = coalesce(m.stopped_at, now())
      from knowing k join projects p on p.workspace_id = k.workspace_id
     where p.id = m.project_id and k.user_id = any(m.known_to))`;

/**
 * Sets the role of a user on a board. `by` is the user who does it, null for the operator. Monitors
 * known to somebody who is no maintainer any more stop: their reports are writes. Webhooks continue,
 * because every role may read the events.
 */
export async function setMembership(
  db: Db,
  membership: { workspaceId: string; userId: string; role: Role },
  by: string | null = null,
): Promise<void> {
  await rows(
    db,
    `with known as (select role from memberships where workspace_id = :workspaceId and user_id = :userId),
     changed as (
       insert into memberships as m (workspace_id, user_id, role) values (:workspaceId, :userId, :role)
       on conflict (user_id, workspace_id) do update set role = excluded.role where m.role <> excluded.role
       returning workspace_id, user_id, (select role from known) as before, role as after),
     demoted as (select * from changed where before = 'maintainer' and after <> 'maintainer'),
     ${stopKnownMonitors("demoted")}
     ${feedMemberships("changed")}`,
    { ...membership, by },
  );
}
