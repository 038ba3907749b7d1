import { exists, firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import type { BoardRole, Credential } from "./credentials.ts";

interface NewSession {
  /** The id of the session's credential. */
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  /** The hash of the cookie's secret. */
  readonly secretHash: Buffer;
  readonly idleMs: number;
  readonly maxMs: number;
  readonly forgeToken: Buffer;
}

/** Starts the session of a person, and adds its credential. */
export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await rows(
    db,
    `with credential as (
       insert into credentials (id, client_id, user_id, name, scopes, secret_hash, expires_at)
       values (:id, :clientId, :userId, 'console', array['read', 'write'], :secretHash,
               now() + least(cast(:idleMs as bigint), :maxMs) * interval '1 millisecond')
       returning id)
     insert into sessions (credential_id, ends_at, forge_token)
     select id, now() + :maxMs * interval '1 millisecond', :forgeToken from credential`,
    { ...session },
  );
}

/** Activity is recorded at most once in this time, in milliseconds. */
const RECORD_EVERY_MS = 60_000;

/**
 * Records that a session is active, which delays its idle timeout. True if the session has changed.
 * Most calls do not need the database to know that it has not, and of calls at the same time one
 * changes it.
 */
export async function recordActivity(
  db: Db,
  { clientId, session }: Pick<Credential, "clientId" | "session">,
  idleMs: number,
  now = Date.now(),
): Promise<boolean> {
  if (session === null) return false;
  if (Math.min(now + idleMs, session.endsAt) - session.expiresAt < RECORD_EVERY_MS) return false;
  return exists(
    db,
    `update credentials c set expires_at = least(s.ends_at, now() + :idleMs * interval '1 millisecond')
       from sessions s
      where s.credential_id = c.id and c.client_id = :clientId and c.revoked_at is null and c.expires_at > now()
        and least(s.ends_at, now() + :idleMs * interval '1 millisecond') >= c.expires_at + :everyMs * interval '1 millisecond'
     returning 1`,
    { clientId, idleMs, everyMs: RECORD_EVERY_MS },
  );
}

const END = `
  with ended as (
    update credentials c set revoked_at = now() from sessions s
     where s.credential_id = c.id and c.revoked_at is null`;
const FORGET = `
    returning c.id)
  update sessions set forge_token = null from ended where credential_id = ended.id`;

/** Ends a session. False if no session has this client id. */
export const endSession = (db: Db, clientId: string): Promise<boolean> =>
  exists(db, `${END} and c.client_id = :clientId ${FORGET} returning 1`, { clientId });

/** Ends all sessions of a GitHub account. Returns their number. */
export async function endSessionsOf(db: Db, forgeAccountId: number): Promise<number> {
  const ended = await rows(
    db,
    `${END} and c.user_id in (select id from users where forge_account_id = :forgeAccountId) ${FORGET} returning 1`,
    { forgeAccountId },
  );
  return ended.length;
}

/** Lists the sessions that have not ended, the oldest first. */
export const listSessions = (db: Db): Promise<object[]> =>
  rows(
    db,
    `select c.client_id as "id", u.login, c.created_at as "createdAt", c.expires_at as "expiresAt", s.ends_at as "endsAt"
       from sessions s join credentials c on c.id = s.credential_id join users u on u.id = c.user_id
      where c.revoked_at is null and c.expires_at > now() order by c.created_at, c.id`,
  );

/** The encrypted token of a session, or null. */
export const findForgeToken = (db: Db, credentialId: string): Promise<Buffer | null> =>
  firstValue<Buffer>(db, "select forge_token from sessions where credential_id = :credentialId", {
    credentialId,
  });

/** A person with a session, as the console shows it. */
interface SignedIn {
  readonly id: string;
  readonly login: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly forgeId: number;
}

export const findSignedIn = (db: Db, userId: string): Promise<SignedIn | null> =>
  firstRow<SignedIn>(
    db,
    `select id, login, name, avatar_url as "avatarUrl", forge_account_id as "forgeId" from users where id = :userId`,
    { userId },
  );

interface NamedBoard extends Pick<BoardRole, "workspaceId" | "role"> {
  readonly name: string;
  readonly slug: string;
}

/** The boards of a session with their names, the oldest first. */
export const nameBoards = (db: Db, boards: readonly BoardRole[]): Promise<NamedBoard[]> =>
  rows<NamedBoard>(
    db,
    `select w.id as "workspaceId", w.name, w.slug, b.role
       from json_to_recordset(cast(:boards as json)) as b("workspaceId" uuid, role text)
       join workspaces w on w.id = b."workspaceId" order by w.created_at, w.id`,
    { boards: JSON.stringify(boards) },
  );
