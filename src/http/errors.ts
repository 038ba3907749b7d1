import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { unavailable } from "../actions/unavailable.ts";
import { Problem, type ProblemKind } from "../errors.ts";
import { ForgeUnavailable } from "../forge/values.ts";
import { isDatabaseUnavailable } from "../store/db/connect.ts";

/** The status and reason phrase of each kind of problem. */
const STATUS: Readonly<Record<ProblemKind, readonly [number, string]>> = {
  unauthenticated: [401, "Unauthorized"],
  invalid: [400, "Bad Request"],
  forbidden: [403, "Forbidden"],
  not_found: [404, "Not Found"],
  gone: [410, "Gone"],
  method_not_allowed: [405, "Method Not Allowed"],
  conflict: [409, "Conflict"],
  busy: [409, "Conflict"],
  refused: [409, "Conflict"],
  stale: [412, "Precondition Failed"],
  too_slow: [408, "Request Timeout"],
  too_large: [413, "Payload Too Large"],
  address_too_long: [414, "URI Too Long"],
  unsupported_media_type: [415, "Unsupported Media Type"],
  too_many: [429, "Too Many Requests"],
  unavailable: [503, "Service Unavailable"],
};

const MIB = 1024 * 1024;

/** The response to a failed call. */
export interface Failure {
  readonly statusCode: number;
  /** `{ message, error, statusCode }` and the problem's other fields. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Seconds until the call may be repeated. */
  readonly retryAfter: number | undefined;
}

/**
 * Logs an error and returns the response to its caller. A 500 shows only the request id; the log has
 * the cause under that id.
 */
export function failureOf(error: unknown, { log, requestId }: FailedCall, method: string): Failure {
  const problem = toProblem(error);
  if (!problem) {
    log.error({ err: error, method }, "a request failed");
    const message = `Internal error. Quote request ${requestId} when you report it.`;
    const statusCode = 500;
    return {
      statusCode,
      body: { message, error: "Internal Server Error", statusCode },
      retryAfter: undefined,
    };
  }
  if (problem.kind === "unavailable")
    log.warn({ err: problem.cause, detail: problem.detail }, problem.message);
  else log.debug({ kind: problem.kind }, problem.message);
  const [statusCode, reason] = STATUS[problem.kind];
  // A report of an outage can quote the request, as for a 500.
  const message = statusCode < 500 ? problem.message : `${problem.message} (request ${requestId})`;
  const retryAfter = problem.retryAfter === undefined ? undefined : Math.ceil(problem.retryAfter);
  return { statusCode, body: { message, error: reason, statusCode, ...problem.body }, retryAfter };
}

/** The status of the response to a failed call, and why: the reason of a refusal or the kind of problem. */
export function outcomeOf(error: unknown): { readonly status: number; readonly problem: string } {
  const problem = toProblem(error);
  if (!problem) return { status: 500, problem: "internal" };
  const [status] = STATUS[problem.kind];
  const { blocked } = problem.body as { readonly blocked?: { readonly reason: string } };
  return { status, problem: blocked?.reason ?? problem.kind };
}

type FailedCall = Pick<Response["locals"], "log" | "requestId">;

/**
 * Converts an error of Express, GitHub or the database into a problem. Null for an unexpected
 * error.
 */
function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof ForgeUnavailable) {
    return unavailable(error);
  }
  if (isDatabaseUnavailable(error)) {
    return new Problem("unavailable", "The database is busy or unavailable. Make the same call again.", {
      retryAfter: 2,
      cause: error,
    });
  }
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) {
    const limit = error instanceof Error && "limit" in error ? Number(error.limit) : 0;
    return new Problem("too_large", `The body is larger than ${limit / MIB} MiB.`, { cause: error });
  }
  if (status === 415) {
    return new Problem("unsupported_media_type", "The encoding of the body is not supported.", {
      cause: error,
    });
  }
  if (typeof status === "number" && status >= 400 && status < 500) {
    return new Problem("invalid", "The request could not be read.", { cause: error });
  }
  return null;
}

export const unknownRoute: RequestHandler = (request) => {
  throw new Problem("not_found", `There is no ${request.method} ${request.path}. See /v1/openapi.json.`);
};

export const errorHandler: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const { locals } = response;
  if (response.headersSent) {
    // Closing the connection shows the caller that the response is incomplete.
    locals.log.error(
      { err: error, method: request.method },
      "a request failed after its response was started",
    );
    request.socket.destroy();
    return;
  }
  const { statusCode, body, retryAfter } = failureOf(error, locals, request.method);
  if (retryAfter !== undefined) response.set("Retry-After", String(retryAfter));
  if (statusCode === 401 && !locals.authMethod.isSession) response.set("WWW-Authenticate", "Bearer");
  response.status(statusCode).json(body);
};
