import type { MergeOrder } from "./pull-requests.ts";

/** With it, the App acts as a person, within the rights of both. */
export interface PersonToken {
  readonly accessToken: string;
  /** ISO 8601; null if it does not expire. */
  readonly expiresAt: string | null;
}

/** Where a browser is sent to sign in, and what its return is checked with. */
export interface StartedSignIn {
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
}

/** Lets people sign in with their account on the forge. */
export interface SignInForge {
  start(redirectUri: string): Promise<StartedSignIn>;
  /**
   * Checks the address to which the browser returned, and exchanges its code. Throws
   * `SignInRefused`, and `ForgeUnavailable` if the forge does not respond.
   */
  finish(returned: URL, started: Pick<StartedSignIn, "state" | "codeVerifier">): Promise<PersonToken>;
}

/** A head of a pull request to approve and merge as a person. */
export interface ApprovalOrder {
  readonly number: number;
  readonly headSha: string;
  readonly method: MergeOrder["method"];
  /** The person's account and token. */
  readonly reviewerId: number;
  readonly token: PersonToken;
}

/** `pending`: the forge has not finished the merge yet. */
export interface Approved {
  readonly state: "merged" | "pending";
}

/** The forge does not accept the token of a person any more. */
export class PersonTokenRefused extends Error {
  override readonly name = "PersonTokenRefused";
}

/** Why a sign-in failed; `/sign-in?problem=` has it. */
export type SignInProblem =
  | "cancelled"
  | "expired"
  | "wrong_state"
  | "wrong_issuer"
  | "not_a_member"
  | "forge_unavailable"
  | "failed";

/** A sign-in that the forge, the person or a check refused. The message contains no secret. */
export class SignInRefused extends Error {
  override readonly name = "SignInRefused";
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
