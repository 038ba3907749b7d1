import { labelOf } from "../text/field-words.ts";
import type { MoveRefusal } from "./schema.d.ts";

/** The problem JSON of a failed call. `blocked` is only in refused moves, `signInUrl` only with `reauthenticate`. */
export type ProblemBody = Omit<MoveRefusal, "code"> & {
  readonly code?: string;
  readonly signInUrl?: string;
};

/** The service responded with an error. `message` says what to do; see `messageOf`. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly body: ProblemBody;
  /** Seconds after which the same call may succeed, if the service names them. */
  readonly retryAfter: number | null;

  constructor(body: ProblemBody, retryAfter: number | null = null) {
    super(body.message);
    this.status = body.statusCode;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

/** No response arrived. A write may have happened: repeat it with the same idempotency key. */
export class NoResponse extends Error {
  override readonly name = "NoResponse";

  constructor(cause: unknown) {
    super("Trunkline cannot be reached. Check your connection, then try again.", { cause });
  }
}

/** What is wrong with a field of the body, without its name; undefined if the error is about something else. */
export const issueOf = (error: unknown, field: string): string | undefined =>
  error instanceof ApiProblem
    ? error.body.issues?.find(({ path }) => path === `body.${field}`)?.message
    : undefined;

/** A sentence for people about any error. A field of the body has its label instead of its path. */
export const messageOf = (error: unknown): string =>
  error instanceof ApiProblem || error instanceof NoResponse
    ? error.message.replace(/^body\.[\w.]+(?=: )/, labelOf)
    : "Something went wrong in this page. Load it again.";

/** Reads the problem of a response; other bodies, such as a proxy's page, become a general sentence. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  const body: unknown = await response.json().catch(() => null);
  const isProblem = typeof body === "object" && body !== null && "message" in body;
  return new ApiProblem(
    isProblem
      ? { ...(body as ProblemBody), statusCode: response.status }
      : {
          message: `The service responded with ${response.status} without an explanation. Try again in a moment.`,
          error: response.statusText,
          statusCode: response.status,
        },
    Number.isFinite(retryAfter) ? retryAfter : null,
  );
}
