/**
 * How a call to GitHub ends other than with an answer. Octokit's own errors carry headers and bodies, so none of them leaves
 * the adapter: `CallFailure` holds what may be told and logged, and is the `cause` of what is thrown.
 */
import type { Refusal } from "../../flow/refusal.ts";
import { ForgeUnavailable } from "../forge.ts";

export interface CallFacts {
  readonly method: string;
  /** The route's template, without the values in it. */
  readonly route: string;
  readonly status: number | null;
  /** GitHub's name for the request, for its support. */
  readonly requestId: string | null;
}

export class CallFailure extends Error {
  override readonly name = "CallFailure";
  readonly facts: CallFacts;

  constructor(what: string, facts: CallFacts) {
    super(`${facts.method} ${facts.route}: ${what}`);
    this.facts = facts;
  }
}

/** An order left, but what became of it is not known: it must be looked for before it is repeated. */
export class UnknownOutcome extends ForgeUnavailable {}

/** A question whose answer is more than is taken in. */
export class TooMuchAsked extends ForgeUnavailable {}

/** GitHub takes neither our key nor the token it gave for it. */
export class CredentialsRefused extends ForgeUnavailable {}

/** The installation itself may not be used: suspended, or gone. */
export class InstallationRefused extends Error {
  override readonly name = "InstallationRefused";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
