import type { Db } from "../../store/db/connect.ts";
import { findCredential } from "../../store/tenancy/credentials.ts";
import { endSession } from "../../store/tenancy/sessions.ts";
import type { Attempt } from "../attempt.ts";
import { isSecret, type KeyParts } from "../credentials/credential-key.ts";

/** Ends the session of a cookie. The client id alone does not: others can read it. */
export async function endOwnSession(db: Db, { clientId, secret }: KeyParts): Promise<string | null> {
  const credential = await findCredential(db, clientId);
  if (!credential?.isHuman || !isSecret(secret, credential.secretHashes)) return null;
  return (await endSession(db, clientId)) ? credential.userId : null;
}

/** Ends the session of a cookie, if it has one. */
export async function signOut(db: Db, key: KeyParts, attempt: Attempt): Promise<void> {
  const userId = await endOwnSession(db, key);
  if (userId === null) return;
  attempt.userId = userId;
  await attempt.end(db, { status: 204, problem: null });
}
