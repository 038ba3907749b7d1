import type { Role } from "../../flow/roles.ts";
import { columnsOf, exists, firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import { feedMemberships, REMOVED } from "./memberships.ts";

export type Scope = "read" | "write";

/** A board that a credential has access to, and its role there. */
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
  /** The hash of the secret, and during a rotation that of the previous one. */
  readonly secretHashes: readonly Buffer[];
  /** Changes with the credential and its boards; null while the credential is unusable. */
  readonly stamp: string | null;
  readonly boards: readonly BoardRole[];
  /** Whether a person acts with it: false for every API key, whoever owns it. */
  readonly isHuman: boolean;
}

/**
 * SQL for the stamp of a credential. It is null after the revocation or expiry, and changes when
 * the previous secret expires. `credential` is an alias, never input.
 */
const stampOf = (credential: string): string =>
  `case when ${credential}.revoked_at is null
         and (${credential}.expires_at is null or ${credential}.expires_at > now())
        then ${credential}.stamp::text || case when ${credential}.previous_until > now() then '+' else '' end end`;

/** SQL for the stamp of the credential `:clientId`; null for an unknown or unusable one. */
export const STAMP = `(select ${stampOf("k")} from credentials k where k.client_id = :clientId)`;

/** A query for the same stamp that locks the credential until the transaction ends. */
export const LOCKED_STAMP = `select ${stampOf("k")} as stamp from credentials k where k.client_id = :clientId for share`;

/** SQL for the boards of the credential `c`, as JSON. */
const BOARDS = `coalesce((select json_agg(json_build_object('workspaceId', m.workspace_id,
                                                        'organizationId', w.organization_id,
                                                        'role', m.role) order by w.created_at, w.id)
                        from memberships m join workspaces w on w.id = m.workspace_id
                       where m.user_id = c.user_id), '[]')`;

export async function findCredential(db: Db, clientId: string): Promise<Credential | null> {
  return firstRow<Credential>(
    db,
    `select c.id, c.client_id as "clientId", c.user_id as "userId", c.name, c.scopes,
            case when c.previous_until > now() then array[c.secret_hash, c.previous_secret_hash]
                 else array[c.secret_hash] end as "secretHashes",
            ${stampOf("c")} as stamp,
            ${BOARDS} as boards, false as "isHuman"
       from credentials c where c.client_id = :clientId`,
    { clientId },
  );
}

interface NewCredential extends Pick<Credential, "id" | "clientId" | "userId" | "name" | "scopes"> {
  readonly secretHash: Buffer;
  readonly expiresAt: Date | null;
  /** The person as whom it counts, or null. */
  readonly ownerId: string | null;
}

export async function insertCredential(db: Db, credential: NewCredential): Promise<void> {
  await db("credentials").insert(columnsOf(credential));
}

/** Lists all credentials, the oldest first. */
export async function listCredentials(db: Db): Promise<object[]> {
  return rows<object>(
    db,
    `select c.client_id as "clientId", c.name, c.scopes, c.created_at as "createdAt",
            c.expires_at as "expiresAt", c.revoked_at as "revokedAt",
            (select o.login from users o where o.id = c.owner_id) as owner,
            ${BOARDS} as boards
       from credentials c order by c.created_at, c.id`,
  );
}

export interface Rotation {
  readonly name: string;
  readonly expiresAt: Date | null;
  /** When the previous secret expires. */
  readonly previousUntil: Date;
}

/**
 * Replaces the secret of a credential. The previous secret stays valid for `keepMs`, but not beyond
 * its old expiry; older secrets become invalid now. Null for an unknown, revoked or expired
 * credential.
 */
export async function rotateSecret(
  db: Db,
  rotation: {
    readonly clientId: string;
    readonly secretHash: Buffer;
    readonly keepMs: number;
    /** Undefined keeps the expiry; null removes it. */
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

/** Revokes a credential and deletes its memberships. False for an unknown client id. */
export const revokeCredential = (db: Db, clientId: string, by: string | null = null): Promise<boolean> =>
  exists(
    db,
    `with revoked as (
       update credentials set revoked_at = coalesce(revoked_at, now()) where client_id = :clientId returning user_id),
     changed as (
       delete from memberships where user_id in (select user_id from revoked) returning ${REMOVED}),
     fed as (${feedMemberships("changed")})
     select 1 from revoked`,
    { clientId, by },
  );

export async function isMember(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const member = "select 1 from memberships where workspace_id = :workspaceId and user_id = :userId";
  return exists(db, member, { workspaceId, userId });
}

/**
 * The role with which a user may act on a board now. Null after the user left the board or lost the
 * credential: it is revoked or expired, or may only read. People act without a credential.
 */
export async function findActingRole(db: Db, workspaceId: string, userId: string): Promise<Role | null> {
  return firstValue<Role>(
    db,
    `select m.role from memberships m
      where m.workspace_id = :workspaceId and m.user_id = :userId
        and (not exists (select 1 from credentials c where c.user_id = m.user_id)
             or exists (select 1 from credentials c
                         where c.user_id = m.user_id and c.revoked_at is null and 'write' = any(c.scopes)
                           and (c.expires_at is null or c.expires_at > now())))`,
    { workspaceId, userId },
  );
}

/** Thrown when a cached credential is stale. The caller reads it again and starts over. */
export class StaleCredential extends Error {
  override readonly name = "StaleCredential";
}

/**
 * A credential from this process's cache. Each call must confirm that it is unchanged before it
 * answers or commits: by `STAMP` in one of its statements and `confirm`, or by `revalidate`.
 */
export class CachedCredential {
  readonly credential: Credential;
  #isConfirmed: boolean;

  /** `isConfirmed`: whether the credential was read during this call. */
  constructor(credential: Credential, isConfirmed: boolean) {
    this.credential = credential;
    this.#isConfirmed = isConfirmed;
  }

  /** Compares the stamp that a statement of this call read. Throws `StaleCredential`. */
  confirm(stamp: string | null): void {
    if (stamp !== this.credential.stamp) throw new StaleCredential();
    this.#isConfirmed = true;
  }

  /** Reads the stamp unless the credential is confirmed. Throws `StaleCredential`. */
  async revalidate(db: Db): Promise<void> {
    if (this.#isConfirmed) return;
    const { clientId } = this.credential;
    this.confirm(await firstValue<string>(db, `select ${STAMP} as stamp`, { clientId }));
  }

  /** Reads the stamp again, for a call that has waited. Throws `StaleCredential`. */
  async confirmAgain(db: Db): Promise<void> {
    this.#isConfirmed = false;
    await this.revalidate(db);
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
