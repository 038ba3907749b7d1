import { exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { LOCKED_STAMP, type CachedCredential } from "../tenancy/credentials.ts";
import { isAliveSql } from "./instances.ts";

/** A key that this request has claimed. `attempt` is a fencing token: a takeover changes it. */
export interface ClaimedKey {
  readonly credentialId: string;
  readonly key: string;
  readonly attempt: number;
}

interface KeyClaim {
  readonly credentialId: string;
  readonly key: string;
  /** A digest of the request: a retry must be the same request. */
  readonly fingerprint: Buffer;
  /** The id of the claiming process. */
  readonly holder: string;
}

export interface StoredAnswer {
  readonly status: number;
  /** JSON text; null for an answer without a body. */
  readonly body: string | null;
}

export type ClaimResult =
  | { readonly state: "claimed"; readonly held: ClaimedKey }
  | { readonly state: "replay"; readonly answer: StoredAnswer }
  | { readonly state: "other_request" }
  | { readonly state: "running" };

const CLAIM = `
  with stamp as materialized (${LOCKED_STAMP}),
  claimed as (
    insert into idempotency_keys as k (credential_id, key, fingerprint, state, holder)
    select :credentialId, :key, :fingerprint, 'running', :holder from stamp
     where stamp.stamp = :stamp
       and pg_try_advisory_xact_lock(hashtextextended(concat_ws(':', 'key', cast(:credentialId as text), cast(:key as text)), 0))
    on conflict (credential_id, key) do update
      set fingerprint = excluded.fingerprint, state = 'running', holder = excluded.holder, attempt = k.attempt + 1,
          status = null, body = null, created_at = now()
      where (k.state = 'done' and k.created_at < now() - interval '24 hours')
         or (k.state = 'running' and not ${isAliveSql("k.holder")})
    returning attempt)
  select (select stamp from stamp) as stamp, (select attempt from claimed) as attempt`;

/**
 * Claims a key and confirms the credential in one round trip. Takes over a key that is older than
 * 24 hours or that a dead process claimed. A revocation or a change of roles waits until the write
 * has ended, so that no write commits after it. A second request with the same key does not wait for the
 * first one: it fails to get the advisory lock and is `running`. Throws `StaleCredential`.
 */
export async function claimKey(trx: Trx, cached: CachedCredential, claim: KeyClaim): Promise<ClaimResult> {
  const { clientId, stamp } = cached.credential;
  const { credentialId, key } = claim;
  const [row] = await rows<{ stamp: string | null; attempt: number | null }>(trx, CLAIM, {
    ...claim,
    clientId,
    stamp,
  });
  const { attempt = null } = row ?? {};
  cached.confirm(row?.stamp ?? null);
  if (attempt !== null) return { state: "claimed", held: { credentialId, key, attempt } };
  const known = await firstRow<StoredAnswer & { fingerprint: Buffer; state: "running" | "done" }>(
    trx,
    "select fingerprint, state, status, body from idempotency_keys where credential_id = :credentialId and key = :key",
    { credentialId, key },
  );
  if (!known) return { state: "running" };
  const { fingerprint, state, status, body } = known;
  if (!fingerprint.equals(claim.fingerprint)) return { state: "other_request" };
  return state === "done" ? { state: "replay", answer: { status, body } } : { state };
}

/** Stores an answer. False if another request took over the key; the caller must then roll back. */
export async function storeAnswer(db: Db, claim: ClaimedKey, answer: StoredAnswer): Promise<boolean> {
  return exists(
    db,
    `update idempotency_keys set state = 'done', holder = null, status = :status, body = :body
      where credential_id = :credentialId and key = :key and attempt = :attempt and state = 'running' returning attempt`,
    { ...claim, ...answer },
  );
}

/** Releases a key after a failed attempt, so that the request can be repeated with it. */
export async function releaseKey(db: Db, claim: ClaimedKey): Promise<void> {
  await db("idempotency_keys")
    .where({ credential_id: claim.credentialId, key: claim.key, attempt: claim.attempt, state: "running" })
    .delete();
}
