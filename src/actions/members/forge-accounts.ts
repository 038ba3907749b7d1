import { invalid, notFound } from "../../errors.ts";
import { isKnownAgent } from "../../flow/comment-text.ts";
import type { Role } from "../../flow/roles.ts";
import type { ForgeAccount } from "../../forge/values.ts";
import type { Db } from "../../store/db/connect.ts";
import type { Actor } from "../../store/events/timeline.ts";
import { transaction } from "../../store/db/transaction.ts";
import { insertAgent, isRegisteredAgent } from "../../store/tenancy/agents.ts";
import { lockMembers } from "../../store/tenancy/members.ts";
import { findPerson } from "../../store/tenancy/people.ts";
import { upsertForgeUser } from "../../store/tenancy/users.ts";
import { findWorkspace } from "../../store/tenancy/workspaces.ts";
import type { Deps } from "../deps.ts";
import { setRole } from "./members.ts";

/** The account GitHub shows in place of one that was deleted (https://github.com/ghost). */
const GHOST: ForgeAccount = { forgeId: 10_137, login: "ghost", avatarUrl: null, isBot: false };

/** The user of a GitHub account, created when the account is first seen. */
export async function forgeActor(
  deps: Pick<Deps, "newId">,
  db: Db,
  account: ForgeAccount | null,
): Promise<Actor> {
  const known = account ?? GHOST;
  const kind = isKnownAgent(known) ? "agent" : "human";
  const user = await upsertForgeUser(db, known, kind, deps.newId());
  return { userId: user.id, login: known.login };
}

/** Whether an account is a well-known agent, or one that the board has registered. */
export const isAgentOn = async (
  db: Db,
  workspaceId: string,
  account: ForgeAccount | null,
): Promise<boolean> =>
  account !== null && (isKnownAgent(account) || (await isRegisteredAgent(db, workspaceId, account.forgeId)));

/** Whether an account is the bot of this App. */
export const isOurBot = async (
  { forge }: Pick<Deps, "forge">,
  account: ForgeAccount | null,
): Promise<boolean> => account !== null && account.forgeId === (await forge.identity()).botId;

interface ForgeUser {
  readonly id: string;
  readonly login: string;
}

/**
 * Sets the role of a GitHub account on a board. GitHub is asked which account has the login now,
 * because logins can be transferred.
 */
export async function addMember(
  deps: MemberDeps,
  order: { readonly workspaceId: string; readonly login: string; readonly role: Role },
): Promise<ForgeUser> {
  const { workspaceId, role } = order;
  const user = await userWithLogin(deps, order);
  await transaction(deps.db, async (trx) => {
    await lockMembers(trx, workspaceId);
    await setRole(trx, { workspaceId, userId: user.id, role, by: null });
  });
  return user;
}

/**
 * Registers a GitHub account as an agent on one board, or changes its owner. Other boards are not
 * affected.
 */
export async function registerAgent(
  deps: MemberDeps,
  order: { readonly workspaceId: string; readonly login: string; readonly owner?: string | undefined },
): Promise<ForgeUser & { readonly owner?: string }> {
  const { workspaceId, login } = order;
  const owner = order.owner === undefined ? null : await findOwner(deps, { workspaceId, login: order.owner });
  const user = await userWithLogin(deps, { workspaceId, login });
  await recordAgent(deps.db, { workspaceId, user, ownerId: owner?.id ?? null });
  return { ...user, ...(owner && { owner: owner.login }) };
}

/** Registers a user as an agent. Without an owner, an agent that is registered keeps its own. */
export async function recordAgent(
  db: Db,
  {
    workspaceId,
    user,
    ownerId,
  }: { readonly workspaceId: string; readonly user: ForgeUser; readonly ownerId: string | null },
): Promise<void> {
  if (user.id === ownerId) throw invalid(`${user.login} cannot be its own owner. Name a person.`);
  await insertAgent(db, { workspaceId, userId: user.id, ownerId });
}

/**
 * The person with this login on GitHub, to own an agent or its key. Throws `invalid` for a bot, and
 * for an agent of the board.
 */
export async function findOwner(
  deps: MemberDeps,
  { workspaceId, login }: { readonly workspaceId: string; readonly login: string },
): Promise<ForgeUser> {
  const owner = await userWithLogin(deps, { workspaceId, login });
  if ((await findPerson(deps.db, workspaceId, owner.id)) === owner.id) return owner;
  throw invalid(`${owner.login} is a bot or an agent. The owner must be a person.`);
}

type MemberDeps = Pick<Deps, "db" | "newId" | "forge">;

export async function userWithLogin(
  deps: MemberDeps,
  { workspaceId, login }: { readonly workspaceId: string; readonly login: string },
): Promise<ForgeUser> {
  const account = await accountWithLogin(deps, { workspaceId, login });
  if (!account) throw notFound(`GitHub has no user or bot ${login}.`);
  const { userId } = await forgeActor(deps, deps.db, account);
  return { id: userId, login: account.login };
}

/** The account that has this login on GitHub now, or null. */
export async function accountWithLogin(
  { db, forge }: Pick<Deps, "db" | "forge">,
  { workspaceId, login }: { readonly workspaceId: string; readonly login: string },
): Promise<ForgeAccount | null> {
  const workspace = await findWorkspace(db, workspaceId);
  if (!workspace) throw notFound(`There is no workspace ${workspaceId}. \`workspace list\` shows them.`);
  return forge.account(login, workspace.installationId);
}
