import { isSecret, parseCredentialKey } from "../actions/credential-key.ts";
import { Problem } from "../errors.ts";
import type { Db } from "../store/connect.ts";
import { findCredential, type Credential } from "../store/credentials.ts";

const refuse = (): Problem =>
  new Problem("unauthenticated", "Send a valid API key as `Authorization: Bearer <API key>`.");

/** Compared against when no credential is found, so that an unknown client id takes as long as a wrong secret. */
const NOBODY = [Buffer.alloc(32)];

/**
 * The credential a request carries. A key that is missing, malformed, unknown, wrong, revoked or expired is refused alike.
 */
export async function authenticate(db: Db, authorization: string | undefined): Promise<Credential> {
  const [, apiKey] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  const key = apiKey === undefined ? null : parseCredentialKey(apiKey);
  if (!key) throw refuse();
  const credential = await findCredential(db, key.clientId);
  const isRight = isSecret(key.secret, credential?.secretHashes ?? NOBODY);
  if (!credential || !isRight || !credential.isLive) throw refuse();
  return credential;
}
