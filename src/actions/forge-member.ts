import { notFound } from "../errors.ts";
import type { Role } from "../flow/roles.ts";
import { insertAgent } from "../store/tenancy/users.ts";
import { setMembership } from "../store/tenancy/credentials.ts";
import { findWorkspace } from "../store/tenancy/workspaces.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";

export interface ForgeUser {
  readonly id: string;
  readonly login: string;
}

/**
 * Gives a forge account a role on a board, in place of the one it may have there. The forge is asked who has the login now: what it was
 * last seen under may be somebody else's.
 */
export async function addMember(
  deps: MemberDeps,
  order: { readonly workspaceId: string; readonly login: string; readonly role: Role },
): Promise<ForgeUser> {
  const user = await userWithLogin(deps, order);
  await setMembership(deps.db, { workspaceId: order.workspaceId, userId: user.id, role: order.role });
  return user;
}

/** Takes a forge account for an agent on one board. Nothing changes for any other board that knows the account. */
export async function registerAgent(
  deps: MemberDeps,
  order: { readonly workspaceId: string; readonly login: string },
): Promise<ForgeUser> {
  const user = await userWithLogin(deps, order);
  await insertAgent(deps.db, order.workspaceId, user.id);
  return user;
}

type MemberDeps = Pick<Deps, "db" | "newId" | "forge">;

async function userWithLogin(
  deps: MemberDeps,
  { workspaceId, login }: { readonly workspaceId: string; readonly login: string },
): Promise<ForgeUser> {
  const workspace = await findWorkspace(deps.db, workspaceId);
  if (!workspace) throw notFound(`There is no workspace ${workspaceId}. \`workspace list\` names them.`);
  const account = await deps.forge.account(login, workspace.installationId);
  if (!account) throw notFound(`The forge knows no person or bot ${login}.`);
  const { userId } = await forgeActor(deps, deps.db, account);
  return { id: userId, login: account.login };
}
