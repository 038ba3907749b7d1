import type { Role } from "../../flow/roles.ts";
import { rows, type Db } from "../db/connect.ts";
import { kindOn, type User } from "./users.ts";

export interface Member extends User {
  readonly role: Role;
}

/** The members of a board, who has been one longest first. */
export async function listMembers(db: Db, workspaceId: string): Promise<Member[]> {
  return rows<Member>(
    db,
    `select u.id, u.name, u.avatar_url as "avatarUrl", ${kindOn("m.workspace_id", "u")} as kind, m.role
       from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId order by m.created_at, u.id`,
    { workspaceId },
  );
}

/** A member by what a person at the command line knows of it. */
export interface MemberEntry {
  readonly id: string;
  /** Null for an API credential. */
  readonly login: string | null;
  readonly name: string;
  readonly kind: User["kind"];
  readonly role: Role;
}

/** The members of a board with their logins, who has been one longest first. */
export async function listMemberEntries(db: Db, workspaceId: string): Promise<MemberEntry[]> {
  return rows<MemberEntry>(
    db,
    `select u.id, u.login, u.name, ${kindOn("m.workspace_id", "u")} as kind, m.role
       from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId order by m.created_at, u.id`,
    { workspaceId },
  );
}

/** Takes a board's member with this login away from it; false where it has none. */
export async function removeMember(db: Db, workspaceId: string, login: string): Promise<boolean> {
  const removed = await rows(
    db,
    `delete from memberships m using users u
      where u.id = m.user_id and m.workspace_id = :workspaceId and lower(u.login) = lower(:login)
     returning u.id`,
    { workspaceId, login },
  );
  return removed.length > 0;
}
