import type { Role } from "../../flow/roles.ts";
import { columnsOf, exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { feedMemberships, REMOVED, stopKnown } from "./memberships.ts";

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
  readonly version: string | null;
  readonly boards: readonly BoardRole[];
  /** Whether a person acts with it: false for every API key, whoever owns it. */
  readonly isHuman: boolean;
  /** Whether it is the session of an operator of the service; false for every API key. */
  readonly isOperator: boolean;
  /** Of a session of the console; null for an API key. */
  readonly session: SessionTimes | null;
}

/** In milliseconds since 1970. */
export interface SessionTimes {
  /** When it ends without further activity. */
  readonly expiresAt: number;
  /** When it ends even if it is used. */
  readonly endsAt: number;
}

/** Whether a session shows anything: a board, or the operations page. */
export const reachesAnything = ({ boards, isOperator }: Pick<Credential, "boards" | "isOperator">): boolean =>
  boards.length > 0 || isOperator;

/**
 * SQL for the version of a credential. It is null after the revocation or expiry, and changes when
 * the previous secret expires. `credential` is an alias, never input.
 */
const versionOf = (credential: string): string =>
  `case when ${credential}.revoked_at is null
         and (${credential}.expires_at is null or ${credential}.expires_at > now())
        then ${credential}.version::text || case when ${credential}.previous_until > now() then '+' else '' end end`;

/** SQL for the version of the credential `:clientId`; null for an unknown or unusable one. */
export const CREDENTIAL_VERSION = `(select ${versionOf("k")} from credentials k where k.client_id = :clientId)`;

/** A query for the same version that locks the credential until the transaction ends. */
export const LOCKED_CREDENTIAL_VERSION = `select ${versionOf("k")} as version from credentials k where k.client_id = :clientId for share`;

/**
 * SQL for the boards of the credential `c`, as JSON. An account that a board has registered as an
 * agent does not reach it in a session, which would count as a person.
 */
const BOARDS = `coalesce((select json_agg(json_build_object('workspaceId', m.workspace_id,
                                                        'organizationId', w.organization_id,
                                                        'role', m.role) order by w.created_at, w.id)
                        from memberships m join workspaces w on w.id = m.workspace_id
                       where m.user_id = c.user_id
                         and not exists (select 1 from workspace_agents wa
                                          where wa.workspace_id = m.workspace_id and wa.user_id = m.user_id)), '[]')`;

export async function findCredential(db: Db, clientId: string): Promise<Credential | null> {
  return firstRow<Credential>(
    db,
    `select c.id, c.client_id as "clientId", c.user_id as "userId", c.name, c.scopes,
            case when c.previous_until > now() then array[c.secret_hash, c.previous_secret_hash]
                 else array[c.secret_hash] end as "secretHashes",
            ${versionOf("c")} as version,
            ${BOARDS} as boards, s.credential_id is not null as "isHuman",
            s.credential_id is not null and u.is_operator as "isOperator",
            case when s.credential_id is not null
                 then json_build_object('expiresAt', extract(epoch from c.expires_at) * 1000,
                                        'endsAt', extract(epoch from s.ends_at) * 1000) end as session
       from credentials c join users u on u.id = c.user_id left join sessions s on s.credential_id = c.id
      where c.client_id = :clientId`,
    { clientId },
  );
}

interface NewCredential extends Pick<Credential, "id" | "clientId" | "userId" | "name" | "scopes"> {
  readonly secretHash: Buffer;
  readonly expiresAt: Date | null;
  /** The person as whom it counts, or null. */
  readonly ownerId: string | null;
  /** The board that lists it after its revocation, or null. */
  readonly issuedFor: string | null;
}

export async function insertCredential(db: Db, credential: NewCredential): Promise<void> {
  await db("credentials").insert(columnsOf(credential));
}

/** Lists the credentials of API keys, the oldest first. */
export async function listCredentials(db: Db): Promise<object[]> {
  return rows<object>(
    db,
    `select c.client_id as "clientId", c.name, c.scopes, c.created_at as "createdAt",
            c.expires_at as "expiresAt", c.revoked_at as "revokedAt",
            (select o.login from users o where o.id = c.owner_id) as owner,
            ${BOARDS} as boards
       from credentials c
      where not exists (select 1 from sessions s where s.credential_id = c.id)
      order by c.created_at, c.id`,
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
    /** Undefined keeps the owner. */
    readonly ownerId?: string | undefined;
  },
): Promise<Rotation | null> {
  const { clientId, secretHash, keepMs, expiresAt, ownerId } = rotation;
  return firstRow<Rotation>(
    db,
    `update credentials c
        set previous_secret_hash = c.secret_hash,
            previous_until = least(c.expires_at, now() + :keepMs * interval '1 millisecond'),
            secret_hash = :secretHash, owner_id = coalesce(cast(:ownerId as uuid), c.owner_id),
            expires_at = case when :keepsExpiry then c.expires_at else :expiresAt end
      where c.client_id = :clientId and c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
     returning c.name, c.expires_at as "expiresAt", c.previous_until as "previousUntil"`,
    {
      clientId,
      secretHash,
      keepMs,
      ownerId: ownerId ?? null,
      keepsExpiry: expiresAt === undefined,
      expiresAt: expiresAt ?? null,
    },
  );
}

/** Revokes an API key, deletes its memberships and stops the webhooks that it created. False for an unknown client id. */
export const revokeCredential = (db: Db, clientId: string, by: string | null = null): Promise<boolean> =>
  exists(
    db,
    `with revoked as (
       update credentials c set revoked_at = coalesce(c.revoked_at, now())
        where c.client_id = :clientId and not exists (select 1 from sessions s where s.credential_id = c.id)
       returning c.user_id),
     changed as (
       delete from memberships where user_id in (select user_id from revoked) returning ${REMOVED}),
     ${stopKnown("changed")},
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
 * API key: it is revoked or expired, or may only read. What people started goes on after they have
 * signed out.
 */
export async function findActingRole(db: Db, workspaceId: string, userId: string): Promise<Role | null> {
  return firstValue<Role>(
    db,
    `select m.role from memberships m
      where m.workspace_id = :workspaceId and m.user_id = :userId
        and (not exists (select 1 from users u where u.id = m.user_id and u.kind = 'machine')
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
 * responds or commits: by `CREDENTIAL_VERSION` in one of its statements and `confirmVersion`, or by
 * `readAndConfirm`.
 */
export class CachedCredential {
  readonly credential: Credential;
  #isConfirmed: boolean;

  /** `isConfirmed`: whether the credential was read during this call. */
  constructor(credential: Credential, isConfirmed: boolean) {
    this.credential = credential;
    this.#isConfirmed = isConfirmed;
  }

  /** Compares the version that a statement of this call read. Throws `StaleCredential`. */
  confirmVersion(version: string | null): void {
    if (version !== this.credential.version) throw new StaleCredential();
    this.#isConfirmed = true;
  }

  /** Reads the version unless the credential is confirmed. Throws `StaleCredential`. */
  async readAndConfirm(db: Db): Promise<void> {
    if (this.#isConfirmed) return;
    const { clientId } = this.credential;
    this.confirmVersion(
      await firstValue<string>(db, `select ${CREDENTIAL_VERSION} as version`, { clientId }),
    );
  }

  /** Confirms the credential and locks it until the transaction ends. Throws `StaleCredential`. */
  async lock(trx: Trx): Promise<void> {
    this.confirmVersion(
      await firstValue<string>(trx, LOCKED_CREDENTIAL_VERSION, { clientId: this.credential.clientId }),
    );
  }

  /** Reads the version again, for a call that has waited. Throws `StaleCredential`. */
  async readAndConfirmAgain(db: Db): Promise<void> {
    this.#isConfirmed = false;
    await this.readAndConfirm(db);
  }

  /** Runs `work`, then confirms the credential. Throws `StaleCredential`. */
  async readAndConfirmAfter<T>(db: Db, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.readAndConfirm(db);
    }
  }
}
