import { conflict, invalid, requireFound } from "../../errors.ts";
import type { Role } from "../../flow/roles.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { isMember } from "../../store/tenancy/credentials.ts";
import {
  deleteInvitation,
  findInvitation,
  insertInvitation,
  takeInvitations,
  type Invitation,
} from "../../store/tenancy/invitations.ts";
import { setMembership } from "../../store/tenancy/memberships.ts";
import { findForgeUser } from "../../store/tenancy/users.ts";
import type { Deps } from "../deps.ts";
import { accountWithLogin, forgeActor, isAgentOn } from "./forge-accounts.ts";
import type { Write } from "../write.ts";
import { changeMembers } from "./change-members.ts";

/**
 * Invites the GitHub account that has the login now. Returns 201 with the invitation. Throws
 * `invalid` for an unknown login and for accounts that cannot sign in.
 */
export async function invite(
  deps: Deps,
  write: Write,
  { login, role }: { readonly login: string; readonly role: Role },
): Promise<StoredResponse> {
  const { workspaceId, userId: invitedBy } = write;
  await write.commit();
  const account = await accountWithLogin(deps, { workspaceId, login });
  if (!account) throw invalidLogin(`GitHub has no user ${login}`);
  if (account.isBot) throw invalidLogin(`${account.login} is a bot, which cannot sign in`);
  return changeMembers(deps, write, "maintainer", async (trx) => {
    if (await isAgentOn(trx, workspaceId, account))
      throw invalidLogin(`${account.login} is registered as an agent of this board`);
    const known = await findForgeUser(trx, account.forgeId);
    if (known && (await isMember(trx, workspaceId, known.id)))
      throw conflict(`${account.login} is a member of this board already.`);
    const id = deps.newId();
    const earlier = await insertInvitation(trx, { id, workspaceId, account, role, invitedBy });
    if (earlier) throw conflict(`${account.login} is invited as ${earlier} already. Revoke that first.`);
    const invitation = requireFound(await findInvitation(trx, workspaceId, id), "invitation");
    return write.respondIn(trx, invitation, 201);
  });
}

const invalidLogin = (message: string) =>
  invalid(`body.login: ${message}.`, [{ path: "body.login", message: `${message}.` }]);

/** Revokes an invitation. Returns 204. */
export async function revokeInvitation(write: Write, { id }: Invitation): Promise<StoredResponse> {
  requireFound(await deleteInvitation(write.trx, write.workspaceId, id), "invitation");
  return write.respond(null, 204);
}

/**
 * Makes an account that signs in a member of the boards to which it was invited. A role that it got
 * in another way since stays. Returns the boards.
 */
export async function acceptInvitations(
  deps: Pick<Deps, "newId">,
  trx: Trx,
  account: ForgeAccount,
): Promise<readonly string[]> {
  const taken = await takeInvitations(trx, account.forgeId);
  if (taken.length === 0) return [];
  const { userId } = await forgeActor(deps, trx, account);
  for (const { workspaceId, role, invitedBy } of taken)
    if (!(await isMember(trx, workspaceId, userId)))
      await setMembership(trx, { workspaceId, userId, role }, invitedBy);
  return taken.map(({ workspaceId }) => workspaceId);
}
