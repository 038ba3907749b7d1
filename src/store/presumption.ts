import type { Db } from "./connect.ts";
import { readStamp, type Credential } from "./credentials.ts";

/** Ends a call that was begun on what a credential no longer is: it is read anew, and the call begins again. */
export class Outdated extends Error {
  override readonly name = "Outdated";
}

/**
 * A credential as this process has read it, now or some time ago. What is done on its behalf must not be told, and nothing be written, before PostgreSQL was asked
 * since the call came in whether it is still the same: `STAMP` in the call's first statement and then `settle`, or else `ask`.
 */
export class Presumption {
  readonly credential: Credential;
  #isSettled: boolean;

  /** `isSettled`: it was read for this very call. */
  constructor(credential: Credential, isSettled: boolean) {
    this.credential = credential;
    this.#isSettled = isSettled;
  }

  /** Takes what a statement of this call found `STAMP` to be. Throws `Outdated`. */
  settle(stamp: string | null): void {
    if (stamp !== this.credential.stamp) throw new Outdated();
    this.#isSettled = true;
  }

  /** Asks by a statement of its own, where none of this call has. Throws `Outdated`. */
  async ask(db: Db): Promise<void> {
    if (!this.#isSettled) this.settle(await readStamp(db, this.credential.clientId));
  }

  /** What comes of `work`, well or not, once it is certain that the credential is the same. Throws `Outdated`. */
  async during<T>(db: Db, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.ask(db);
    }
  }
}
