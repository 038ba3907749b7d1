import { firstRow, rows, type Db } from "./connect.ts";
import { LEFT_TO_LATER_COMMITS } from "./flushing.ts";
import { isHeld } from "./instances.ts";

/** A key this request holds. `attempt` fences it: once somebody else took it over, this holder's writes no longer match. */
export interface HeldKey {
  readonly credentialId: string;
  readonly key: string;
  readonly attempt: number;
}

/** A claim of a key for a request, as a process makes it. */
export interface KeyClaim {
  readonly credentialId: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly holder: string;
}

export type Claim =
  | { readonly state: "claimed"; readonly held: HeldKey }
  | { readonly state: "replay"; readonly status: number; readonly body: string | null }
  | { readonly state: "other_request" }
  | { readonly state: "running" };

interface KeyRow {
  readonly fingerprint: Buffer;
  readonly state: "running" | "done";
  readonly status: number;
  readonly body: string | null;
}

/**
 * Claims a key for a request. The key of a dead process, or one older than 24 hours, is taken over by the same statement that
 * would make it anew. It is on the disk before anything that is done under it.
 */
export async function claimKey(db: Db, claim: KeyClaim): Promise<Claim> {
  const claimed = await firstRow<{ attempt: number }>(
    db,
    `insert into idempotency_keys as k (credential_id, key, fingerprint, state, holder)
     select :credentialId, :key, :fingerprint, 'running', :holder where ${LEFT_TO_LATER_COMMITS}
     on conflict (credential_id, key) do update
       set fingerprint = excluded.fingerprint, state = 'running', holder = excluded.holder, attempt = k.attempt + 1,
           status = null, body = null, created_at = now()
       where (k.state = 'done' and k.created_at < now() - interval '24 hours')
          or (k.state = 'running' and not ${isHeld("k.holder")})
     returning attempt`,
    { ...claim },
  );
  if (claimed) {
    return {
      state: "claimed",
      held: { credentialId: claim.credentialId, key: claim.key, attempt: claimed.attempt },
    };
  }
  const row = await firstRow<KeyRow>(
    db,
    "select fingerprint, state, status, body from idempotency_keys where credential_id = :credentialId and key = :key",
    { ...claim },
  );
  // Released between the two statements: its holder is just gone, and the caller may come again at once.
  if (!row) return { state: "running" };
  if (!row.fingerprint.equals(claim.fingerprint)) return { state: "other_request" };
  return row.state === "done"
    ? { state: "replay", status: row.status, body: row.body }
    : { state: "running" };
}

/** Stores the answer under a held key; false when the key is no longer held, and then nothing may be committed. */
export async function storeAnswer(
  db: Db,
  held: HeldKey,
  answer: { readonly status: number; readonly body: string | null },
): Promise<boolean> {
  const stored = await rows(
    db,
    `update idempotency_keys set state = 'done', holder = null, status = :status, body = :body
      where credential_id = :credentialId and key = :key and attempt = :attempt and state = 'running' returning attempt`,
    { ...held, ...answer },
  );
  return stored.length === 1;
}

/** Gives a held key back after a failed attempt. */
export async function releaseKey(db: Db, held: HeldKey): Promise<void> {
  await db("idempotency_keys")
    .where({ credential_id: held.credentialId, key: held.key, attempt: held.attempt, state: "running" })
    .delete();
}

/**
 * Gives back what a claim may have taken although its answer was lost. Where a retry in the same process has claimed the key since, that one
 * stores nothing and asks its caller to come again.
 */
export async function releaseUnheard(
  db: Db,
  claim: Pick<KeyClaim, "credentialId" | "key" | "holder">,
): Promise<void> {
  const { credentialId, key, holder } = claim;
  await db("idempotency_keys").where({ credential_id: credentialId, key, holder, state: "running" }).delete();
}
