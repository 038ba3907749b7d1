import { exists, firstRow, firstValue, rows, type Db } from "../db/connect.ts";

/** A sign-in that waits for GitHub. */
export interface SignIn {
  readonly codeVerifier: string;
  readonly returnTo: string;
  /** The hash of the one-time link that started it, or null. */
  readonly linkHash: Buffer | null;
}

/** A person has this time to sign in on GitHub. */
const LIFETIME = "interval '10 minutes'";
/** Until then an expired sign-in is reported as such. */
const KEPT = "interval '1 hour'";

/** Stores a sign-in, and deletes old ones: anybody can start one, so their number must stay small. */
export async function insertSignIn(
  db: Db,
  signIn: SignIn & { readonly stateHash: Buffer; readonly browserHash: Buffer },
): Promise<void> {
  await rows(
    db,
    `with old as (
       select state_hash from sign_ins where created_at < now() - ${KEPT} limit 100 for update skip locked),
     deleted as (delete from sign_ins s using old where s.state_hash = old.state_hash)
     insert into sign_ins (state_hash, browser_hash, code_verifier, return_to, link_hash)
     values (:stateHash, :browserHash, :codeVerifier, :returnTo, :linkHash)`,
    { ...signIn },
  );
}

/** Takes a sign-in that the same browser started, so that nobody can use its state again. */
export const takeSignIn = (
  db: Db,
  stateHash: Buffer,
  browserHash: Buffer,
): Promise<(SignIn & { readonly isExpired: boolean }) | null> =>
  firstRow(
    db,
    `delete from sign_ins where state_hash = :stateHash and browser_hash = :browserHash
     returning code_verifier as "codeVerifier", return_to as "returnTo", link_hash as "linkHash",
               created_at < now() - ${LIFETIME} as "isExpired"`,
    { stateHash, browserHash },
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
