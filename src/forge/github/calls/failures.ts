/**
 * Errors of calls to GitHub. Octokit's errors contain headers and bodies, so they stay in the
 * adapter: the `cause` of what it throws is a `CallFailure`, which is safe to log.
 */
import type { Refusal } from "../../../flow/refusal.ts";
import { ForgeUnavailable, type ForgeResult } from "../../values.ts";

export interface CallFacts {
  readonly method: string;
  /** A template, without values. */
  readonly route: string;
  readonly status: number | null;
  /** Null for a call as the App or as nobody. */
  readonly installationId: number | null;
  /** The `x-github-request-id` header, for GitHub's support. */
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

/** No request was sent, because of `cause`, such as an error of the database. */
export class NotSent extends Error {
  override readonly name = "NotSent";
}

/**
 * Awaits a check before a request. If it fails, throws `NotSent`, because the request is not sent
 * then; a `ForgeUnavailable` is thrown unchanged.
 */
export async function checkBeforeSending<T>(check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (cause) {
    throw cause instanceof ForgeUnavailable ? cause : new NotSent("no request was sent", { cause });
  }
}

/** A write was sent and its outcome is unknown: read its effect before repeating it. */
export class UnknownOutcome extends ForgeUnavailable {}

/** The response is too large, or takes GitHub too long. A smaller question may succeed. */
export class QuestionTooLarge extends ForgeUnavailable {}

/** The server returns 404 to GraphQL calls. */
export class GraphqlMissing extends ForgeUnavailable {}

/** GitHub refuses the App's key or token. */
export class CredentialsRefused extends ForgeUnavailable {}

/** The installation is suspended or deleted. */
export class InstallationRefused extends Error {
  override readonly name = "InstallationRefused";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export const isWithoutResponse = (error: unknown): error is ForgeUnavailable | InstallationRefused =>
  error instanceof ForgeUnavailable || error instanceof InstallationRefused;

export const isUnavailable = (error: unknown): error is ForgeUnavailable => error instanceof ForgeUnavailable;

export const isInstallationRefusedError = (error: unknown): error is InstallationRefused =>
  error instanceof InstallationRefused;

/** The fallback if the promise fails with an expected error. */
export async function orFallback<T, F>(
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

/** Returns the refusal of an installation instead of throwing it. */
export async function asRefusal<T>(order: Promise<ForgeResult<T>>): Promise<ForgeResult<T>> {
  try {
    return await order;
  } catch (error) {
    if (error instanceof InstallationRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}

/** For reads that cannot return a refusal. */
export async function asUnavailable<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof InstallationRefused)) throw error;
    throw new ForgeUnavailable(error.message, { retryAfter: 60, cause: error });
  }
}
