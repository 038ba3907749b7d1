import { exists, firstRow, firstValue, type Db } from "../db/connect.ts";

/** Longer than a sign-in is valid. */
const KEPT = "interval '1 hour'";

/** Records the state of a finished sign-in, and deletes old ones. False if it was used before. */
export const recordSignIn = (db: Db, stateHash: Buffer): Promise<boolean> =>
  exists(
    db,
    `with old as (
       select state_hash from sign_ins where finished_at < now() - ${KEPT} limit 100 for update skip locked),
     deleted as (delete from sign_ins s using old where s.state_hash = old.state_hash)
     insert into sign_ins (state_hash) values (:stateHash) on conflict do nothing returning state_hash`,
    { stateHash },
  );

/** What the user of a one-time link becomes. */
export interface SignInLink {
  /** The board, of which it is a maintainer. */
  readonly workspaceId: string;
  readonly isOperator: boolean;
}

/** Stores a one-time link, and deletes expired ones. */
export async function insertSignInLink(
  db: Db,
  link: SignInLink & { readonly tokenHash: Buffer; readonly lifetimeMs: number },
): Promise<{ readonly expiresAt: Date }> {
  const expiresAt = await firstValue<Date>(
    db,
    `with expired as (delete from sign_in_links where expires_at < now())
     insert into sign_in_links (token_hash, workspace_id, is_operator, expires_at)
     values (:tokenHash, :workspaceId, :isOperator, now() + :lifetimeMs * interval '1 millisecond')
     returning expires_at`,
    { ...link },
  );
  if (!expiresAt) throw new Error("The insert of a link returned no row.");
  return { expiresAt };
}

export const isSignInLink = (db: Db, tokenHash: Buffer): Promise<boolean> =>
  exists(db, "select 1 from sign_in_links where token_hash = :tokenHash and expires_at > now()", {
    tokenHash,
  });

/** Takes a one-time link. Null for a link that was used or has expired. */
export const takeSignInLink = (db: Db, tokenHash: Buffer): Promise<SignInLink | null> =>
  firstRow<SignInLink>(
    db,
    `delete from sign_in_links where token_hash = :tokenHash and expires_at > now()
     returning workspace_id as "workspaceId", is_operator as "isOperator"`,
    { tokenHash },
  );
