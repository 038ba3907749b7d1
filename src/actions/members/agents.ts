import { conflict, invalid, requireFound } from "../../errors.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findBoardAgent, removeAgent, setAgentOwner, type BoardAgent } from "../../store/tenancy/agents.ts";
import { findBoardMember } from "../../store/tenancy/members.ts";
import { findPerson } from "../../store/tenancy/people.ts";
import type { Deps } from "../deps.ts";
import { accountWithLogin, forgeActor, recordAgent } from "./forge-accounts.ts";
import type { Write } from "../write.ts";
import { changeMembers } from "./change-members.ts";
import { requireOtherMaintainer } from "./members.ts";

/** Registers the GitHub account that has the login now as an agent. Returns 201 with the agent. */
export async function addBoardAgent(
  deps: Deps,
  write: Write,
  { login, ownerId }: { readonly login: string; readonly ownerId: string | null },
): Promise<StoredResponse> {
  const { workspaceId } = write;
  await write.commit();
  const account = await accountWithLogin(deps, { workspaceId, login });
  if (!account)
    throw invalidField(
      "login",
      `GitHub has no user or bot ${login}. For a script without a GitHub account, issue a key without an agent.`,
    );
  return changeMembers(deps, write, "maintainer", async (trx) => {
    const { userId } = await forgeActor(deps, trx, account);
    const known = await findBoardAgent(trx, workspaceId, userId);
    if (known?.isRegistered) throw conflict(`${account.login} is registered as an agent already.`);
    // The account's sessions do not reach the board any more.
    const member = await findBoardMember(trx, workspaceId, userId);
    if (member) await requireOtherMaintainer(trx, workspaceId, member);
    await requirePerson(trx, workspaceId, ownerId);
    await recordAgent(trx, { workspaceId, user: { id: userId, login: account.login }, ownerId });
    return write.respondIn(trx, await read(trx, write, userId), 201);
  });
}

/** Sets the owner of an agent, null for none. Returns the agent. */
export const changeAgentOwner = (
  deps: Deps,
  write: Write,
  { id: userId }: BoardAgent,
  ownerId: string | null,
): Promise<StoredResponse> =>
  changeMembers(deps, write, "maintainer", async (trx) => {
    const { workspaceId } = write;
    await read(trx, write, userId);
    await requirePerson(trx, workspaceId, ownerId);
    await setAgentOwner(trx, { workspaceId, userId, ownerId });
    return write.respondIn(trx, await read(trx, write, userId));
  });

/** Ends the registration of an agent. Returns 204. */
export const removeBoardAgent = (
  deps: Deps,
  write: Write,
  { id: userId, login }: BoardAgent,
): Promise<StoredResponse> =>
  changeMembers(deps, write, "maintainer", async (trx) => {
    if (!(await removeAgent(trx, write.workspaceId, { userId })))
      throw conflict(`${login} is a well-known agent, and not registered on this board.`);
    return write.respondIn(trx, null, 204);
  });

/** Throws `invalid` unless the owner is a person on the board. */
async function requirePerson(trx: Trx, workspaceId: string, ownerId: string | null): Promise<void> {
  if (ownerId === null) return;
  const member = await findBoardMember(trx, workspaceId, ownerId);
  if (member && (await findPerson(trx, workspaceId, ownerId)) === ownerId) return;
  throw invalidField("ownerId", "The owner must be a person on this board.");
}

const invalidField = (field: string, message: string) =>
  invalid(`body.${field}: ${message}`, [{ path: `body.${field}`, message }]);

const read = async (trx: Trx, { workspaceId }: Write, userId: string): Promise<BoardAgent> =>
  requireFound(await findBoardAgent(trx, workspaceId, userId), "agent");
