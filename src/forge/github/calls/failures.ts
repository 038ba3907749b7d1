/**
 * How a call to GitHub ends other than with an answer. Octokit's own errors carry headers and bodies, so none of them leaves
 * the adapter: `CallFailure` holds what may be told and logged, and is the `cause` of what is thrown.
 */
import type { Refusal } from "../../../flow/refusal.ts";
import { ForgeUnavailable, type Ordered } from "../../values.ts";

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

/** Whether a question or order was not answered, for whatever reason that is no fault of ours. */
export const isUnanswered = (error: unknown): error is ForgeUnavailable | InstallationRefused =>
  error instanceof ForgeUnavailable || error instanceof InstallationRefused;

export const isInstallationRefused = (error: unknown): error is InstallationRefused =>
  error instanceof InstallationRefused;

/** Gives the fallback where the promise fails with an expected error. */
export async function recovered<T, F>(
  promise: Promise<T>,
  isExpected: (error: unknown) => boolean,
  fallback: F,
): Promise<T | F> {
  try {
    return await promise;
  } catch (error) {
    if (isExpected(error)) return fallback;
    throw error;
  }
}

/** An installation that is suspended or gone refuses every order. */
export async function permitted<T>(order: Promise<Ordered<T>>): Promise<Ordered<T>> {
  try {
    return await order;
  } catch (error) {
    if (error instanceof InstallationRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** A question that has no room for a refusal cannot be answered by such an installation. */
export async function reachable<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof InstallationRefused)) throw error;
    throw new ForgeUnavailable(error.message, { retryAfter: 60, cause: error });
  }
}
