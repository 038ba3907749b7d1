import type { ForgeAccount } from "../../forge/values.ts";
import type { Role } from "../../flow/roles.ts";
import { exists, firstRow, rows, type Db } from "../db/connect.ts";

/** A GitHub account that becomes a member when it signs in. */
export interface Invitation {
  readonly id: string;
  /** At the time of the invitation. */
  readonly login: string;
  readonly avatarUrl: string | null;
  readonly role: Role;
  /** The login of the maintainer. */
  readonly invitedBy: string | null;
  readonly createdAt: Date;
}

const INVITATION = `
  select i.id, i.login, i.avatar_url as "avatarUrl", i.role, u.login as "invitedBy", i.created_at as "createdAt"
    from invitations i join users u on u.id = i.invited_by
   where i.workspace_id = :workspaceId`;

/** Lists the invitations of a board, the oldest first. */
export const listInvitations = (db: Db, workspaceId: string): Promise<Invitation[]> =>
  rows<Invitation>(db, `${INVITATION} order by i.created_at, i.id`, { workspaceId });

export const findInvitation = (db: Db, workspaceId: string, id: string): Promise<Invitation | null> =>
  firstRow<Invitation>(db, `${INVITATION} and i.id = :id`, { workspaceId, id });

/** Stores an invitation. If the account is invited already, returns the role and changes nothing. */
export async function insertInvitation(
  db: Db,
  invitation: {
    readonly id: string;
    readonly workspaceId: string;
    readonly account: ForgeAccount;
    readonly role: Role;
    readonly invitedBy: string;
  },
): Promise<Role | null> {
  const { account, ...rest } = invitation;
  const earlier = await firstRow<{ role: Role }>(
    db,
    "select role from invitations where workspace_id = :workspaceId and forge_account_id = :forgeId",
    { workspaceId: rest.workspaceId, forgeId: account.forgeId },
  );
  if (earlier) return earlier.role;
  await rows(
    db,
    `insert into invitations (id, workspace_id, forge_account_id, login, avatar_url, role, invited_by)
     values (:id, :workspaceId, :forgeId, :login, :avatarUrl, :role, :invitedBy)`,
    { ...rest, forgeId: account.forgeId, login: account.login, avatarUrl: account.avatarUrl },
  );
  return null;
}

/** False if there is no such invitation. */
export const deleteInvitation = (db: Db, workspaceId: string, id: string): Promise<boolean> =>
  exists(db, "delete from invitations where workspace_id = :workspaceId and id = :id returning 1", {
    workspaceId,
    id,
  });

/** Deletes the invitations of a board that a user has sent. */
export async function deleteInvitationsOf(db: Db, workspaceId: string, invitedBy: string): Promise<void> {
  await rows(db, "delete from invitations where workspace_id = :workspaceId and invited_by = :invitedBy", {
    workspaceId,
    invitedBy,
  });
}

interface TakenInvitation {
  readonly workspaceId: string;
  readonly role: Role;
  readonly invitedBy: string;
}

/** Takes all invitations of a GitHub account. */
export const takeInvitations = (db: Db, forgeId: number): Promise<TakenInvitation[]> =>
  rows<TakenInvitation>(
    db,
    `delete from invitations where forge_account_id = :forgeId
     returning workspace_id as "workspaceId", role, invited_by as "invitedBy"`,
    { forgeId },
  );
