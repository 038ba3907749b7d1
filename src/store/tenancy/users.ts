import type { ForgeAccount } from "../../forge/values.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";
import type { Identified } from "../db/list-window.ts";

export type UserKind = "human" | "machine" | "agent";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly kind: UserKind;
}

/**
 * SQL for the kind of a user on a board, which may register human accounts as agents. `user` is an
 * alias and `workspaceId` an expression, never input.
 */
export const userKindSql = (workspaceId: string, user: string): string =>
  `case when ${user}.kind = 'human' and exists (
          select 1 from workspace_agents wa where wa.workspace_id = ${workspaceId} and wa.user_id = ${user}.id)
        then 'agent' else ${user}.kind end`;

/** SQL for a user as JSON. `user` is an alias and `workspaceId` an expression, never input. */
export const userJsonSql = (workspaceId: string, user: string): string =>
  `json_build_object('id', ${user}.id, 'name', ${user}.name, 'avatarUrl', ${user}.avatar_url,
                     'kind', ${userKindSql(workspaceId, user)})`;

/** Adds the user of an API credential. */
export async function insertMachineUser(db: Db, user: { id: string; name: string }): Promise<void> {
  await db("users").insert({ id: user.id, kind: "machine", name: user.name });
}

/** Creates or updates the user of a GitHub account. `newId` is the id of a new user. */
export async function upsertForgeUser(
  db: Db,
  account: ForgeAccount,
  kind: UserKind,
  newId: string,
): Promise<User> {
  const user = await firstRow<User>(
    db,
    `insert into users (id, kind, name, avatar_url, forge_account_id, login)
     values (:newId, :kind, :login, :avatarUrl, :forgeId, :login)
     on conflict (forge_account_id) do update
       set login = excluded.login, name = excluded.name, avatar_url = excluded.avatar_url, kind = excluded.kind
     returning id, name, avatar_url as "avatarUrl", kind`,
    { ...account, newId, kind },
  );
  if (!user) throw new Error("The upsert of a user returned no row.");
  return user;
}

export async function findForgeUser(db: Db, forgeId: number): Promise<{ readonly id: string } | null> {
  return firstRow(db, "select id from users where forge_account_id = :forgeId", { forgeId });
}

/** Lists the members of a board in the order in which they joined. */
export async function listMembers(db: Db, workspaceId: string): Promise<Identified[]> {
  return rows<Identified>(
    db,
    `select u.id, u.name, u.avatar_url as "avatarUrl", ${userKindSql("m.workspace_id", "u")} as kind, m.role
       from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId order by m.created_at, u.id`,
    { workspaceId },
  );
}

interface MemberWithLogin extends Identified {
  /** Null for the user of an API key. */
  readonly login: string | null;
}

/** Lists the members of a board with their logins, in the order in which they joined. */
export async function listMembersWithLogin(db: Db, workspaceId: string): Promise<MemberWithLogin[]> {
  return rows<MemberWithLogin>(
    db,
    `select u.id, u.login, u.name, ${userKindSql("m.workspace_id", "u")} as kind, m.role
       from memberships m join users u on u.id = m.user_id
      where m.workspace_id = :workspaceId order by m.created_at, u.id`,
    { workspaceId },
  );
}
