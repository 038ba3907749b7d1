import type { Db } from "../db/connect.ts";
import { readStamp, type Credential } from "./credentials.ts";

/** Thrown when the cached credential is stale: the caller reads it again and starts over. */
export class StaleCredential extends Error {
  override readonly name = "StaleCredential";
}

/**
 * A credential as this process has read it, now or earlier. Nothing may be sent or written on its behalf before PostgreSQL
 * has confirmed, during this call, that it is unchanged: `STAMP` in a statement of the call and then `confirm`, or `revalidate`.
 */
export class CachedCredential {
  readonly credential: Credential;
  #isConfirmed: boolean;

  /** `isConfirmed`: it was read for this very call. */
  constructor(credential: Credential, isConfirmed: boolean) {
    this.credential = credential;
    this.#isConfirmed = isConfirmed;
  }

  /** Compares the stamp that a statement of this call has read. Throws `StaleCredential`. */
  confirm(stamp: string | null): void {
    if (stamp !== this.credential.stamp) throw new StaleCredential();
    this.#isConfirmed = true;
  }

  /** Reads the stamp by a statement of its own, unless it is confirmed already. Throws `StaleCredential`. */
  async revalidate(db: Db): Promise<void> {
    if (!this.#isConfirmed) this.confirm(await readStamp(db, this.credential.clientId));
  }

  /** Does `work` and returns or throws what it does, once the credential is confirmed. Throws `StaleCredential`. */
  async revalidateAfter<T>(db: Db, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.revalidate(db);
    }
  }
}
