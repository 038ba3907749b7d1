import type { Role } from "../flow/roles.ts";
import type { KeyedRequest } from "../store/at-once.ts";
import type { Trx } from "../store/connect.ts";
import type { HeldKey } from "../store/idempotency.ts";

declare const answered: unique symbol;

/** Proof that a write's answer was stored in the transaction that did the work. Only `Caller.answer` makes one. */
export interface Answered {
  readonly [answered]: true;
}

/** Who asks for a write, and on which board. */
export interface Asker {
  readonly userId: string;
  readonly credentialId: string;
  readonly workspaceId: string;
  readonly role: Role;
  /** Names the request: the same for a retry with the same key and content, different for any other. */
  readonly requestId: string;
}

/** Who asks for a write that may be done in one statement, with the key that statement looks up and fills. */
export type KeyedAsker = Asker & KeyedRequest;

/** A request's key, claimed together with the begin of its work, and how that goes on. */
export interface Begun {
  readonly state: "begun";
  readonly held: HeldKey;
  readonly goOn: (caller: Caller) => Promise<Answered>;
}

/** Who asks for a write, and how the answer is kept. */
export interface Caller extends Asker {
  /**
   * Stores the answer under the request's idempotency key. Called inside the transaction that does the work, as the last thing
   * in it, so that a crash never leaves one without the other. Throws when the key was taken over meanwhile, which undoes the work.
   */
  answer(trx: Trx, body: unknown, status?: number): Promise<Answered>;
  /** The same (200) by a statement that does the work, too: `keep` is given the key and the answer's text, and is false where it has done nothing. Then this is null. */
  answerAtOnce(
    body: unknown,
    keep: (held: HeldKey, answer: string) => Promise<boolean>,
  ): Promise<Answered | null>;
}
