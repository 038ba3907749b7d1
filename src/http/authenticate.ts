import { LRUCache } from "lru-cache";
import { isSecret, parseCredentialKey } from "../actions/credentials/credential-key.ts";
import { Problem } from "../errors.ts";
import type { Db } from "../store/connect.ts";
import { findCredential, type Credential } from "../store/credentials.ts";
import { CachedCredential } from "../store/cached-credential.ts";

const refuse = (): Problem =>
  new Problem("unauthenticated", "Send a valid API key as `Authorization: Bearer <API key>`.");

/** Compared against when no credential is found, so that an unknown client id takes as long as a wrong secret. */
const NOBODY = [Buffer.alloc(32)];

/** As many credentials as a process remembers; the one unused for longest makes room. */
const MOST = 1_000;

/** Tells callers by their keys, and remembers the credentials it has read. */
export class Authentication {
  readonly #known = new LRUCache<string, Credential>({ max: MOST });

  /**
   * The credential a request carries, as it was last read; `isAnew` reads it now. A key that is missing, malformed, unknown, wrong, revoked or expired is
   * refused alike (`unauthenticated`): what is not right by memory is looked at in the database before it is refused.
   */
  async authenticate(
    db: Db,
    authorization: string | undefined,
    { isAnew = false }: { readonly isAnew?: boolean } = {},
  ): Promise<CachedCredential> {
    const [, apiKey] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
    const key = apiKey === undefined ? null : parseCredentialKey(apiKey);
    if (!key) throw refuse();
    const { clientId, secret } = key;
    const known = this.#known.get(clientId);
    const isRight = isSecret(secret, known?.secretHashes ?? NOBODY);
    if (known && isRight && !isAnew) return new CachedCredential(known, false);
    const credential = await findCredential(db, clientId);
    const isReallyRight = isSecret(secret, credential?.secretHashes ?? NOBODY);
    if (!credential || credential.stamp === null) this.#known.delete(clientId);
    if (!credential || !isReallyRight || credential.stamp === null) throw refuse();
    this.#known.set(clientId, credential);
    return new CachedCredential(credential, true);
  }
}
