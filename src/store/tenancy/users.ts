import type { ForgeAccount } from "../../forge/forge.ts";
import { firstRow, type Db } from "../db/connect.ts";

export type UserKind = "human" | "machine" | "agent";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly kind: UserKind;
}

/**
 * What kind of user somebody is on a board, in SQL: an account registered there as an agent is one there, and nowhere else. `user` is an
 * alias and `workspaceId` an expression, never input.
 */
export const kindOn = (workspaceId: string, user: string): string =>
  `case when ${user}.kind = 'human' and exists (
          select 1 from workspace_agents wa where wa.workspace_id = ${workspaceId} and wa.user_id = ${user}.id)
        then 'agent' else ${user}.kind end`;

/** A user in SQL, as the JSON object the API shows on a board. `user` is an alias and `workspaceId` an expression, never input. */
export const userJson = (workspaceId: string, user: string): string =>
  `json_build_object('id', ${user}.id, 'name', ${user}.name, 'avatarUrl', ${user}.avatar_url,
                     'kind', ${kindOn(workspaceId, user)})`;

/** Adds the user an API credential writes as. */
export async function insertMachineUser(db: Db, user: { id: string; name: string }): Promise<void> {
  await db("users").insert({ id: user.id, kind: "machine", name: user.name });
}

/**
 * The user of a forge account, made on first sight and renamed when the account was. `newId` is used only for a new one.
 */
export async function seeForgeUser(
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
    {
      newId,
      kind,
      login: account.login,
      avatarUrl: account.avatarUrl,
      forgeId: account.forgeId,
    },
  );
  if (!user) throw new Error("an upsert that gave no row");
  return user;
}

/** The account with this id of the forge's; null where nothing of it was ever heard. */
export async function findForgeUser(db: Db, forgeId: number): Promise<{ readonly id: string } | null> {
  return firstRow(db, "select id from users where forge_account_id = :forgeId", { forgeId });
}
