import { conflict, requireFound } from "../../errors.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { Db } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { deleteInvitationsOf } from "../../store/tenancy/invitations.ts";
import {
  findBoardMember,
  findMembersWithLogin,
  listOtherMaintainers,
  listOwnedKeys,
  lockMembers,
  removeFromBoard,
  type BoardMember,
} from "../../store/tenancy/members.ts";
import { setMembership } from "../../store/tenancy/memberships.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { changeMembers } from "./change-members.ts";

/**
 * Changes the role of a member. `from` is the role that the caller has seen: another one is a
 * conflict. Returns the member.
 */
export const changeMemberRole = (
  deps: Pick<Deps, "db">,
  write: Write,
  { id: userId }: Pick<BoardMember, "id">,
  { role, from }: { readonly role: Role; readonly from: Role },
): Promise<StoredResponse> =>
  changeMembers(deps, write, "maintainer", async (trx) => {
    const { workspaceId } = write;
    const member = requireFound(await findBoardMember(trx, workspaceId, userId), "member");
    if (member.role !== from)
      throw conflict(`${member.login} has the role ${member.role} now: somebody else has changed it.`);
    if (role !== "maintainer") await requireOtherMaintainer(trx, workspaceId, member);
    await setRole(trx, { workspaceId, userId, role, by: write.userId });
    const changed = requireFound(await findBoardMember(trx, workspaceId, userId), "member");
    return write.respondIn(trx, changed);
  });

/** Removes a member, their API keys and the invitations that they sent. Returns 204. */
export const removeMember = (
  deps: Pick<Deps, "db">,
  write: Write,
  { id: userId }: Pick<BoardMember, "id">,
): Promise<StoredResponse> =>
  changeMembers(deps, write, "maintainer", async (trx) => {
    const { workspaceId } = write;
    const member = requireFound(await findBoardMember(trx, workspaceId, userId), "member");
    await requireOtherMaintainer(trx, workspaceId, member);
    await leaveBoard(trx, { workspaceId, userId, by: write.userId });
    return write.respondIn(trx, null, 204);
  });

/**
 * Removes the members with a login, for an operator. May remove the last maintainer, because an
 * operator can add another one. False if no member has the login.
 */
export const removeMembersWithLogin = (db: Db, workspaceId: string, login: string): Promise<boolean> =>
  transaction(db, async (trx) => {
    await lockMembers(trx, workspaceId);
    const userIds = await findMembersWithLogin(trx, workspaceId, login);
    for (const userId of userIds) await leaveBoard(trx, { workspaceId, userId, by: null });
    return userIds.length > 0;
  });

interface OfMember {
  readonly workspaceId: string;
  readonly userId: string;
  /** Null for the operator. */
  readonly by: string | null;
}

/**
 * Sets the role of an account, and lowers the roles of its API keys on the board to it. Deletes the
 * invitations that the account sent, unless the role is maintainer.
 */
export async function setRole(
  trx: Db,
  { workspaceId, userId, role, by }: OfMember & { readonly role: Role },
): Promise<void> {
  await setMembership(trx, { workspaceId, userId, role }, by);
  if (role !== "maintainer") await deleteInvitationsOf(trx, workspaceId, userId);
  for (const key of await listOwnedKeys(trx, workspaceId, userId))
    if (!mayAct(role, key.role)) await setMembership(trx, { workspaceId, userId: key.userId, role }, by);
}

/**
 * What the member has started stops, as after the revocation of a key. Their invitations would
 * otherwise admit people whom nobody on the board has invited.
 */
async function leaveBoard(trx: Db, { workspaceId, userId, by }: OfMember): Promise<void> {
  await deleteInvitationsOf(trx, workspaceId, userId);
  const keys = await listOwnedKeys(trx, workspaceId, userId);
  await removeFromBoard(trx, { workspaceId, userIds: [userId, ...keys.map((key) => key.userId)], by });
}

/** Throws `conflict` if nobody else can sign in as a maintainer of the board. */
export async function requireOtherMaintainer(
  trx: Db,
  workspaceId: string,
  { id, login, role, kind }: Pick<BoardMember, "id" | "login" | "role" | "kind">,
): Promise<void> {
  if (role !== "maintainer" || kind !== "human") return;
  if ((await listOtherMaintainers(trx, workspaceId, id)).length > 0) return;
  throw conflict(`${login} is the only maintainer of this board. Make somebody else a maintainer first.`);
}
