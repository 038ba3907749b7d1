/** The kinds of failed requests. `http/errors.ts` maps them to statuses. */
export type ProblemKind =
  | "unauthenticated"
  | "invalid"
  | "forbidden"
  | "not_found"
  | "gone"
  | "method_not_allowed"
  | "conflict"
  | "busy"
  | "refused"
  | "stale"
  | "too_large"
  | "too_slow"
  | "address_too_long"
  | "too_many"
  | "unsupported_media_type"
  | "unavailable";

export interface ProblemDetails {
  /** Fields of the response body besides `message`, such as `issues` or `blocked`. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Seconds until the call may be repeated. */
  readonly retryAfter?: number;
  /** For the log only. */
  readonly detail?: unknown;
  readonly cause?: unknown;
}

/** Ends a request. `message` is for the caller: what is wrong and what to do. */
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

/** An invalid input: its path, such as `body.title`, and what is valid. */
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
/** Something else uses the same resource now, such as a move or an action on a release. The caller may repeat the call after `retryAfter` seconds. */
export const busy = (message: string, retryAfter: number): Problem =>
  new Problem("busy", message, { retryAfter });

/** Returns the found row. Throws `not_found` if the row is missing. */
export function requireFound<T>(found: T | null | false, what: string): T {
  if (found === null || found === false) {
    throw notFound(`There is no ${what} with this id on this board.`);
  }
  return found;
}

/** The message of an expected error (a `Problem`, or one with a `code`), or the stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected = error instanceof Problem || "code" in error;
  return isExpected ? error.message : (error.stack ?? error.message);
}
