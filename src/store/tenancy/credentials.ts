import type { Role } from "../../flow/roles.ts";
import { exists, firstRow, firstValue, rows, type Db } from "../db/connect.ts";

export type Scope = "read" | "write";

/** A board a credential reaches, and its own role there. */
export interface BoardRole {
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly role: Role;
}

export interface Credential {
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Of its secret, and during a rotation also of the previous one. */
  readonly secretHashes: readonly Buffer[];
  /** Changes with every change of the credential; null while it may not be used. */
  readonly stamp: string | null;
  readonly boards: readonly BoardRole[];
}

/**
 * A credential's stamp in SQL: by the database's clock null once it is revoked or expired, and
 * another once its secret before has ended. `credential` is an alias, never input.
 */
const stampOf = (credential: string): string =>
  `case when ${credential}.revoked_at is null
         and (${credential}.expires_at is null or ${credential}.expires_at > now())
        then ${credential}.stamp::text || case when ${credential}.previous_until > now() then '+' else '' end end`;

/** The stamp of the credential `:clientId`, in the snapshot of the statement that contains it. */
export const STAMP = `(select ${stampOf("k")} from credentials k where k.client_id = :clientId)`;

/** The current stamp; null for an unknown or unusable credential. */
async function readStamp(db: Db, clientId: string): Promise<string | null> {
  return firstValue<string>(db, `select ${STAMP} as stamp`, { clientId });
}

/** The boards that the credential `c` reaches, as JSON. */
const BOARDS = `coalesce((select json_agg(json_build_object('workspaceId', m.workspace_id,
                                                        'organizationId', w.organization_id,
                                                        'role', m.role) order by w.created_at, w.id)
                        from memberships m join workspaces w on w.id = m.workspace_id
                       where m.user_id = c.user_id), '[]')`;

/** The credential with this public half and the boards it reaches, or null. */
export async function findCredential(db: Db, clientId: string): Promise<Credential | null> {
  return firstRow<Credential>(
    db,
    `select c.id, c.client_id as "clientId", c.user_id as "userId", c.name, c.scopes,
            case when c.previous_until > now() then array[c.secret_hash, c.previous_secret_hash]
                 else array[c.secret_hash] end as "secretHashes",
            ${stampOf("c")} as stamp,
            ${BOARDS} as boards
       from credentials c where c.client_id = :clientId`,
    { clientId },
  );
}

interface NewCredential {
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secretHash: Buffer;
  readonly expiresAt: Date | null;
}

export async function insertCredential(db: Db, credential: NewCredential): Promise<void> {
  await db("credentials").insert({
    id: credential.id,
    client_id: credential.clientId,
    user_id: credential.userId,
    name: credential.name,
    scopes: [...credential.scopes],
    secret_hash: credential.secretHash,
    expires_at: credential.expiresAt,
  });
}

/** What may be told of a credential: everything but its secret. */
interface CredentialSummary {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly boards: readonly BoardRole[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** All credentials, the oldest first. */
export async function listCredentials(db: Db): Promise<CredentialSummary[]> {
  return rows<CredentialSummary>(
    db,
    `select c.client_id as "clientId", c.name, c.scopes, c.created_at as "createdAt",
            c.expires_at as "expiresAt", c.revoked_at as "revokedAt",
            ${BOARDS} as boards
       from credentials c order by c.created_at, c.id`,
  );
}

/** What became of a credential whose secret was to be exchanged. */
export interface Rotation {
  readonly name: string;
  readonly expiresAt: Date | null;
  /** Until when the key before this one is good. */
  readonly previousUntil: Date;
}

/**
 * Gives a credential another secret. The one before it stays good for `keepMs`, but never longer
 * than it would have been; what was still good before that ends now. Null when there is no such
 * credential, or when it is revoked or expired.
 */
export async function rotateSecret(
  db: Db,
  rotation: {
    readonly clientId: string;
    readonly secretHash: Buffer;
    readonly keepMs: number;
    /** Undefined leaves it as it is; null is never. */
    readonly expiresAt?: Date | null | undefined;
  },
): Promise<Rotation | null> {
  const { clientId, secretHash, keepMs, expiresAt } = rotation;
  return firstRow<Rotation>(
    db,
    `update credentials c
        set previous_secret_hash = c.secret_hash,
            previous_until = least(c.expires_at, now() + :keepMs * interval '1 millisecond'),
            secret_hash = :secretHash,
            expires_at = case when :keepsExpiry then c.expires_at else :expiresAt end
      where c.client_id = :clientId and c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
     returning c.name, c.expires_at as "expiresAt", c.previous_until as "previousUntil"`,
    { clientId, secretHash, keepMs, keepsExpiry: expiresAt === undefined, expiresAt: expiresAt ?? null },
  );
}

/** Revokes a credential and its memberships; false for an unknown client id. */
export async function revokeCredential(db: Db, clientId: string): Promise<boolean> {
  return exists(
    db,
    `with revoked as (
       update credentials set revoked_at = coalesce(revoked_at, now()) where client_id = :clientId returning user_id),
     gone as (delete from memberships where user_id in (select user_id from revoked))
     select 1 from revoked`,
    { clientId },
  );
}

/** Gives a user a role on a board, replacing the one it has. */
export async function setMembership(
  db: Db,
  membership: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  await db("memberships")
    .insert({ workspace_id: membership.workspaceId, user_id: membership.userId, role: membership.role })
    .onConflict(["user_id", "workspace_id"])
    .merge();
}

/** Whether a user is a member of a board. */
export async function isMember(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const member = "select 1 from memberships where workspace_id = :workspaceId and user_id = :userId";
  return (await firstRow(db, member, { workspaceId, userId })) !== null;
}

/** Thrown when the cached credential is stale: the caller reads it again and starts over. */
export class StaleCredential extends Error {
  override readonly name = "StaleCredential";
}

/**
 * A credential as this process has read it, now or earlier. Nothing may be sent or written on its
 * behalf before PostgreSQL has confirmed, during this call, that it is unchanged: `STAMP` in a
 * statement of the call and then `confirm`, or `revalidate`.
 */
export class CachedCredential {
  readonly credential: Credential;
  #isConfirmed: boolean;

  /** `isConfirmed`: it was read for this very call. */
  constructor(credential: Credential, isConfirmed: boolean) {
    this.credential = credential;
    this.#isConfirmed = isConfirmed;
  }

  /** Compares the stamp that a statement of this call has read. Throws `StaleCredential`. */
  confirm(stamp: string | null): void {
    if (stamp !== this.credential.stamp) throw new StaleCredential();
    this.#isConfirmed = true;
  }

  /** Reads the stamp unless it is confirmed already. Throws `StaleCredential`. */
  async revalidate(db: Db): Promise<void> {
    if (!this.#isConfirmed) this.confirm(await readStamp(db, this.credential.clientId));
  }

  /** Runs `work`, then confirms the credential. Throws `StaleCredential`. */
  async revalidateAfter<T>(db: Db, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.revalidate(db);
    }
  }
}
