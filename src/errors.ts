/**
 * The few ways a request can end other than well. Each carries a message for the caller; `detail` is for the log only.
 * Nothing here knows about HTTP: `http/errors.ts` is the one place that maps these to statuses.
 */
export type ProblemKind =
  | "unauthenticated"
  | "invalid"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "busy"
  | "refused"
  | "too_large"
  | "address_too_long"
  | "too_many"
  | "unsupported_media_type"
  | "unavailable";

export interface ProblemDetails {
  /** Fields of the answer's body beyond `message`, such as `issues` or `blocked`. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Seconds after which the same call makes sense again. */
  readonly retryAfter?: number;
  /** For the log; never shown to the caller. */
  readonly detail?: unknown;
  readonly cause?: unknown;
}

/** Ends a request. `message` is written for the caller and says what to do. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly kind: ProblemKind;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfter: number | undefined;
  readonly detail: unknown;

  constructor(kind: ProblemKind, message: string, details: ProblemDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.body = details.body ?? {};
    this.retryAfter = details.retryAfter;
    this.detail = details.detail;
  }
}

/** One thing wrong with the input: where (`body.title`), and what to do about it. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export const invalid = (message: string, issues?: readonly Issue[]): Problem =>
  new Problem("invalid", message, issues ? { body: { issues } } : {});
export const forbidden = (message: string): Problem => new Problem("forbidden", message);
export const notFound = (message: string): Problem => new Problem("not_found", message);
export const conflict = (message: string): Problem => new Problem("conflict", message);
export const tooMany = (message: string, retryAfter: number): Problem =>
  new Problem("too_many", message, { retryAfter });
/** Somebody else is at it: the same call can be made again after `retryAfter` seconds. */
export const busy = (message: string, retryAfter: number): Problem =>
  new Problem("busy", message, { retryAfter });

/** What a look-up on a board has found. Throws `not_found` where there is nothing. */
export function requireFound<T>(found: T | null | false, what: string): T {
  if (found === null || found === false) {
    throw notFound(`There is no ${what} with this id on this board.`);
  }
  return found;
}

/** What to print about an error: the message of an expected one (a `Problem`, or one with a `code`), the stack of any other. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = error instanceof Problem || "code" in error;
  return isExpected ? error.message : (error.stack ?? error.message);
}
