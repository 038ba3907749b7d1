import { conflict, invalid, notFound } from "../../errors.ts";
import type { Role } from "../../flow/roles.ts";
import {
  findCredential,
  insertCredential,
  rotateSecret,
  type BoardRole,
  type Rotation,
  type Scope,
} from "../../store/tenancy/credentials.ts";
import type { Db } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { setMembership } from "../../store/tenancy/memberships.ts";
import { insertMachineUser } from "../../store/tenancy/users.ts";
import { listWorkspaces } from "../../store/tenancy/workspaces.ts";
import type { Deps } from "../deps.ts";
import { makeCredentialKey } from "./credential-key.ts";

interface CredentialOrder {
  readonly name: string;
  readonly boards: readonly { readonly workspaceId: string; readonly role: Role }[];
  readonly scopes: readonly Scope[];
  /** Null: never expires. */
  readonly expiresAt: Date | null;
  /** The id of the person as whom it counts; none by default. */
  readonly ownerId?: string | null;
}

interface IssuedCredential {
  readonly clientId: string;
  readonly name: string;
  /** Shown this once. */
  readonly apiKey: string;
  readonly scopes: readonly Scope[];
  readonly boards: readonly BoardRole[];
  readonly expiresAt: Date | null;
}

/** Creates a credential and its user, a member of the given boards. */
export async function issueCredential(
  deps: Pick<Deps, "db" | "newId">,
  order: CredentialOrder,
): Promise<IssuedCredential> {
  const workspaces = new Map((await listWorkspaces(deps.db)).map((workspace) => [workspace.id, workspace]));
  const boards = order.boards.map(({ workspaceId, role }) => {
    const workspace = workspaces.get(workspaceId);
    if (!workspace) throw invalid(`There is no workspace ${workspaceId}.`);
    return { workspaceId, organizationId: workspace.organizationId, role };
  });
  const { clientId, apiKey } = await transaction(deps.db, (trx) => issueKey(deps, trx, order));
  return { clientId, name: order.name, apiKey, scopes: order.scopes, boards, expiresAt: order.expiresAt };
}

/** Adds a credential and its user. `by` is the user who does it, null for the operator. */
export async function issueKey(
  { newId }: Pick<Deps, "newId">,
  trx: Db,
  { name, boards, scopes, expiresAt, ownerId = null }: CredentialOrder,
  by: string | null = null,
): Promise<{ readonly id: string; readonly clientId: string; readonly apiKey: string }> {
  const { clientId, text: apiKey, secretHash } = makeCredentialKey();
  const [id, userId] = [newId(), newId()];
  await insertMachineUser(trx, { id: userId, name });
  for (const { workspaceId, role } of boards) await setMembership(trx, { workspaceId, userId, role }, by);
  const issuedFor = boards[0]?.workspaceId ?? null;
  const credential = { id, clientId, userId, name, scopes, secretHash, expiresAt, ownerId, issuedFor };
  await insertCredential(trx, credential);
  return { id, clientId, apiKey };
}

/** The maximum time for which the previous key stays valid. */
export const MAX_KEEP_MS = 86_400_000;

interface RotatedCredential extends Rotation {
  readonly clientId: string;
  /** Shown this once. */
  readonly apiKey: string;
}

/**
 * Replaces the key of a credential. The previous key stays valid for `keepMs`, so that the client
 * can switch; an older one becomes invalid.
 */
export async function rotateCredential(
  { db }: Pick<Deps, "db">,
  order: {
    readonly clientId: string;
    readonly keepMs: number;
    readonly expiresAt?: Date | null | undefined;
    /** The person who gets the new key; undefined keeps the owner. */
    readonly ownerId?: string | undefined;
  },
): Promise<RotatedCredential> {
  const { clientId } = order;
  const { text: apiKey, secretHash } = makeCredentialKey(clientId);
  const keepMs = Math.min(order.keepMs, MAX_KEEP_MS);
  const rotation = await rotateSecret(db, { ...order, keepMs, secretHash });
  if (rotation) return { clientId, apiKey, ...rotation };
  if (!(await findCredential(db, clientId))) throw notFound(`There is no credential ${clientId}.`);
  throw conflict(`The credential ${clientId} is revoked or expired. Issue a new one.`);
}
