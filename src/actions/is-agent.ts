import { isKnownAgent } from "../flow/agents.ts";
import type { ForgeAccount } from "../forge/forge.ts";
import { isRegisteredAgent } from "../store/tenancy/users.ts";
import type { Db } from "../store/db/connect.ts";

/** Whether a forge account is an agent on a board: one that everybody knows, or that the board has registered. */
export const isAgentOn = async (
  db: Db,
  workspaceId: string,
  account: ForgeAccount | null,
): Promise<boolean> =>
  account !== null &&
  (isKnownAgent(account.login) || (await isRegisteredAgent(db, workspaceId, account.forgeId)));
