import type { Role } from "../flow/roles.ts";
import { rows, type Db } from "./connect.ts";
import type { User } from "./users.ts";

export interface Member extends User {
  readonly role: Role;
}

/** The members of a board, who has been one longest first. */
export async function listMembers(db: Db, workspaceId: string): Promise<Member[]> {
  return rows<Member>(
    db,
    `select u.id, u.name, u.avatar_url as "avatarUrl", u.kind, m.role
       from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId order by m.created_at, u.id`,
    { workspaceId },
  );
}
