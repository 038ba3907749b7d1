import { notFound } from "../../errors.ts";
import { isKnownAgent } from "../../flow/comment-text.ts";
import type { Role } from "../../flow/roles.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import type { Db } from "../../store/db/connect.ts";
import type { Actor } from "../../store/events/timeline.ts";
import { setMembership } from "../../store/tenancy/credentials.ts";
import { insertAgent, isRegisteredAgent, seeForgeUser } from "../../store/tenancy/users.ts";
import { findWorkspace } from "../../store/tenancy/workspaces.ts";
import type { Deps } from "../deps.ts";

/** The account GitHub shows in place of one that was deleted (https://github.com/ghost). */
const GHOST: ForgeAccount = { forgeId: 10_137, login: "ghost", avatarUrl: null, isBot: false };

/** The user of a forge account; created when the account is first seen. */
export async function forgeActor(
  deps: Pick<Deps, "newId">,
  db: Db,
  account: ForgeAccount | null,
): Promise<Actor> {
  const known = account ?? GHOST;
  const kind = isKnownAgent(known.login) ? "agent" : "human";
  const user = await seeForgeUser(db, known, kind, deps.newId());
  return { userId: user.id, login: known.login };
}

/**
 * Whether a forge account is an agent on a board: one that is known everywhere, or that the board
 * has registered.
 */
export const isAgentOn = async (
  db: Db,
  workspaceId: string,
  account: ForgeAccount | null,
): Promise<boolean> =>
  account !== null &&
  (isKnownAgent(account.login) || (await isRegisteredAgent(db, workspaceId, account.forgeId)));

/** Whether a forge account is the bot of this App. */
export const isOurBot = async (
  { forge }: Pick<Deps, "forge">,
  account: ForgeAccount | null,
): Promise<boolean> => account !== null && account.forgeId === (await forge.identity()).botId;

export interface ForgeUser {
  readonly id: string;
  readonly login: string;
}

/**
 * Gives a forge account a role on a board, in place of the one it may have there. The forge is
 * asked who has the login now: the account it was last seen with may have another one.
 */
export async function addMember(
  deps: MemberDeps,
  order: { readonly workspaceId: string; readonly login: string; readonly role: Role },
): Promise<ForgeUser> {
  const user = await userWithLogin(deps, order);
  await setMembership(deps.db, { workspaceId: order.workspaceId, userId: user.id, role: order.role });
  return user;
}

/**
 * Registers a forge account as an agent on one board. Other boards that know the account are not
 * affected.
 */
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
