import { exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { attemptBindings, RECORD, type AttemptRow } from "../audit/attempts.ts";
import { LOCKED_CREDENTIAL_VERSION, type CachedCredential } from "../tenancy/credentials.ts";
import { isAliveSql } from "./instances.ts";

/** A key that this request has reserved. `generation` is a fencing token: a takeover changes it. */
export interface ReservedKey {
  readonly credentialId: string;
  readonly key: string;
  readonly generation: number;
}

interface KeyReservation {
  readonly credentialId: string;
  readonly key: string;
  /** A digest of the request: a retry must be the same request. */
  readonly fingerprint: Buffer;
  /** The id of the process that reserves it. */
  readonly holder: string;
}

export interface StoredResponse {
  readonly status: number;
  /** JSON text; null for a response without a body. */
  readonly body: string | null;
}

export type ReservationResult =
  | { readonly state: "reserved"; readonly reserved: ReservedKey }
  | { readonly state: "replay"; readonly response: StoredResponse }
  | { readonly state: "other_request" }
  | { readonly state: "running" };

const RESERVE = `
  with version as materialized (${LOCKED_CREDENTIAL_VERSION}),
  reserved as (
    insert into idempotency_keys as k (credential_id, key, fingerprint, state, holder)
    select :credentialId, :key, :fingerprint, 'running', :holder from version
     where version.version = :version
       and pg_try_advisory_xact_lock(hashtextextended(concat_ws(':', 'key', cast(:credentialId as text), cast(:key as text)), 0))
    on conflict (credential_id, key) do update
      set fingerprint = excluded.fingerprint, state = 'running', holder = excluded.holder, generation = k.generation + 1,
          status = null, body = null, created_at = now()
      where (k.state = 'done' and k.created_at < now() - interval '24 hours')
         or (k.state = 'running' and not ${isAliveSql("k.holder")})
    returning generation)
  select (select version from version) as version, (select generation from reserved) as generation`;

/**
 * Reserves a key and confirms the credential in one round trip. Takes over a key that is older than
 * 24 hours or that a dead process reserved. A revocation or a change of roles waits until the write
 * has ended, so that no write commits after it. A second request with the same key does not wait for the
 * first one: it fails to get the advisory lock and is `running`. Throws `StaleCredential`.
 */
export async function reserveKey(
  trx: Trx,
  cached: CachedCredential,
  reservation: KeyReservation,
): Promise<ReservationResult> {
  const { clientId, version } = cached.credential;
  const { credentialId, key } = reservation;
  const [row] = await rows<{ version: string | null; generation: number | null }>(trx, RESERVE, {
    ...reservation,
    clientId,
    version,
  });
  const { generation = null } = row ?? {};
  cached.confirmVersion(row?.version ?? null);
  if (generation !== null) return { state: "reserved", reserved: { credentialId, key, generation } };
  const known = await firstRow<StoredResponse & { fingerprint: Buffer; state: "running" | "done" }>(
    trx,
    "select fingerprint, state, status, body from idempotency_keys where credential_id = :credentialId and key = :key",
    { credentialId, key },
  );
  if (!known) return { state: "running" };
  const { fingerprint, state, status, body } = known;
  if (!fingerprint.equals(reservation.fingerprint)) return { state: "other_request" };
  return state === "done" ? { state: "replay", response: { status, body } } : { state };
}

const STORE = `
  with recorded as (${RECORD})
  update idempotency_keys set state = 'done', holder = null, status = :status, body = :body
   where credential_id = :credentialId and key = :key and generation = :generation and state = 'running'
  returning generation`;

/**
 * Stores a response and ends the row of its attempt. False if another request took over the key; the
 * caller must then roll back.
 */
export async function storeResponse(
  db: Db,
  reserved: ReservedKey,
  response: StoredResponse,
  attempt: AttemptRow,
): Promise<boolean> {
  const outcome = { status: response.status, problem: null };
  return exists(db, STORE, { ...attemptBindings(attempt, outcome), ...reserved, ...response });
}

/** Releases a key after a failed attempt, so that the request can be repeated with it. */
export async function freeKey(db: Db, reserved: ReservedKey): Promise<void> {
  await db("idempotency_keys")
    .where({
      credential_id: reserved.credentialId,
      key: reserved.key,
      generation: reserved.generation,
      state: "running",
    })
    .delete();
}
