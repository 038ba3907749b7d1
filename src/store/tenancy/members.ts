import type { Role } from "../../flow/roles.ts";
import { column, firstRow, rows, type Db } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { feedMemberships, REMOVED, stopKnown } from "./memberships.ts";
import { userKindSql, type UserKind } from "./users.ts";

/** Lets one transaction at a time change who may do what on a board, until it ends. */
export async function lockMembers(trx: Db, workspaceId: string): Promise<void> {
  await lockName(trx, `members:${workspaceId}`);
}

/** A GitHub account on a board. */
export interface BoardMember {
  readonly id: string;
  readonly login: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly kind: UserKind;
  readonly role: Role;
  readonly joinedAt: Date;
  /** The last call of the console, on any board; null before the first. */
  readonly lastSeenAt: Date | null;
  /** The names of the API keys that the member owns on this board. */
  readonly keys: readonly string[];
  /** The URLs of the webhooks that stop when the member leaves. */
  readonly webhooks: readonly string[];
  /** The names of the monitors that stop when the member leaves or is no maintainer any more. */
  readonly monitors: readonly string[];
}

const MEMBER = `
  select u.id, u.login, u.name, u.avatar_url as "avatarUrl", ${userKindSql("m.workspace_id", "u")} as kind, m.role,
         m.created_at as "joinedAt", (select l.at from last_uses l where l.user_id = u.id) as "lastSeenAt",
         array(select c.name from credentials c join memberships k on k.user_id = c.user_id
                where c.owner_id = u.id and k.workspace_id = m.workspace_id and c.revoked_at is null
                order by c.created_at, c.id) as keys,
         array(select w.url from webhooks w where w.workspace_id = m.workspace_id and w.known_to && known.to
                order by w.created_at, w.id) as webhooks,
         array(select mo.name from monitors mo join projects p on p.id = mo.project_id
                where p.workspace_id = m.workspace_id and mo.known_to && known.to and mo.stopped_at is null
                order by mo.created_at, mo.id) as monitors
    from memberships m join users u on u.id = m.user_id
    cross join lateral (
      select u.id || array(select c.user_id from credentials c where c.owner_id = u.id) as "to") known
   where m.workspace_id = :workspaceId and u.forge_account_id is not null`;

/** Lists the GitHub accounts on a board, in the order in which they joined. */
export const listBoardMembers = (db: Db, workspaceId: string): Promise<BoardMember[]> =>
  rows<BoardMember>(db, `${MEMBER} order by m.created_at, u.id`, { workspaceId });

export const findBoardMember = (db: Db, workspaceId: string, userId: string): Promise<BoardMember | null> =>
  firstRow<BoardMember>(db, `${MEMBER} and u.id = :userId`, { workspaceId, userId });

/** The ids of the members with a login. A login that another account had before can belong to two. */
export const findMembersWithLogin = (db: Db, workspaceId: string, login: string): Promise<string[]> =>
  column<string>(
    db,
    `select u.id from users u join memberships m on m.user_id = u.id
      where m.workspace_id = :workspaceId and lower(u.login) = lower(:login)`,
    { workspaceId, login },
  );

/** The people besides this one who can sign in as a maintainer of the board. */
export const listOtherMaintainers = (db: Db, workspaceId: string, userId: string): Promise<string[]> =>
  column<string>(
    db,
    `select m.user_id from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId and m.role = 'maintainer' and m.user_id <> :userId
        and u.forge_account_id is not null and ${userKindSql("m.workspace_id", "u")} = 'human'`,
    { workspaceId, userId },
  );

/** The users and roles of the API keys that a member owns on a board. */
export const listOwnedKeys = (
  db: Db,
  workspaceId: string,
  ownerId: string,
): Promise<{ readonly userId: string; readonly role: Role }[]> =>
  rows(
    db,
    `select c.user_id as "userId", k.role from credentials c join memberships k on k.user_id = c.user_id
      where c.owner_id = :ownerId and k.workspace_id = :workspaceId and c.revoked_at is null`,
    { workspaceId, ownerId },
  );

/**
 * Removes users from a board. Revokes the API keys and sessions of those who are on no other board,
 * and stops the webhooks and monitors that they know. `by` is the user who does it, null for the operator.
 */
export async function removeFromBoard(
  db: Db,
  { workspaceId, userIds, by }: { workspaceId: string; userIds: readonly string[]; by: string | null },
): Promise<void> {
  await rows(
    db,
    `with changed as (
       delete from memberships where workspace_id = :workspaceId and user_id = any(cast(:userIds as uuid[]))
       returning ${REMOVED}),
     revoked as (
       update credentials c set revoked_at = now() from changed
        where c.user_id = changed.user_id and c.revoked_at is null
          and not exists (select 1 from memberships m
                           where m.user_id = c.user_id and m.workspace_id <> :workspaceId)),
     ${stopKnown("changed")}
     ${feedMemberships("changed")}`,
    { workspaceId, userIds: [...userIds], by },
  );
}
