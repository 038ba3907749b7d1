import { rows, type Db } from "../db/connect.ts";

/** A forge account that a board takes for an agent. */
export interface RegisteredAgent {
  readonly workspaceId: string;
  readonly id: string;
  readonly login: string;
}

/** Takes an account for an agent on a board from now on; once is enough. */
export async function insertAgent(db: Db, workspaceId: string, userId: string): Promise<void> {
  await db("workspace_agents")
    .insert({ workspace_id: workspaceId, user_id: userId })
    .onConflict(["workspace_id", "user_id"])
    .ignore();
}

/** The accounts registered as agents, on one board or (null) on all, the oldest first. */
export async function listAgents(db: Db, workspaceId: string | null): Promise<RegisteredAgent[]> {
  return rows<RegisteredAgent>(
    db,
    `select wa.workspace_id as "workspaceId", u.id, u.login
       from workspace_agents wa join users u on u.id = wa.user_id
      where :workspaceId::uuid is null or wa.workspace_id = :workspaceId
      order by wa.created_at, u.id`,
    { workspaceId },
  );
}

/** Takes the account with this login for an agent no longer; false where it was none there. */
export async function removeAgent(db: Db, workspaceId: string, login: string): Promise<boolean> {
  const removed = await rows(
    db,
    `delete from workspace_agents wa using users u
      where u.id = wa.user_id and wa.workspace_id = :workspaceId and lower(u.login) = lower(:login)
     returning u.id`,
    { workspaceId, login },
  );
  return removed.length > 0;
}

/** Whether a board has registered a forge account as an agent. */
export async function isRegisteredAgent(
  db: Db,
  workspaceId: string,
  forgeAccountId: number,
): Promise<boolean> {
  const found = await rows(
    db,
    `select 1 from workspace_agents wa join users u on u.id = wa.user_id
      where wa.workspace_id = :workspaceId and u.forge_account_id = :forgeAccountId`,
    { workspaceId, forgeAccountId },
  );
  return found.length > 0;
}
