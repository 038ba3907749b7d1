import { validate as isUuid } from "uuid";
import { Attempt } from "../actions/attempt.ts";
import { parseCredentialKey } from "../actions/credentials/credential-key.ts";
import type { Deps } from "../actions/deps.ts";
import { releaseWithRetry } from "../actions/write.ts";
import { outcomeOf } from "./errors.ts";
import type { Exchange, RouteDefinition } from "./route.ts";

/** A request's user agent is cut to so many characters. */
const MAX_USER_AGENT = 200;

type Called = Pick<Exchange, "request" | "response" | "params">;

/**
 * A call of a route that may change something, which leaves one row in the audit log. A success ends
 * its row with its effect (`Write`); a failure is recorded here, before the answer. If that fails,
 * so does the call.
 */
export const auditing =
  <Call extends Called, T>(
    route: Pick<RouteDefinition, "method" | "path">,
    run: (deps: Deps, call: Call, attempt: Attempt) => Promise<T>,
  ) =>
  async (deps: Deps, call: Call): Promise<T> => {
    const attempt = attemptOf(deps, call, `${route.method.toUpperCase()} ${route.path}`);
    try {
      return await run(deps, call, attempt);
    } catch (error) {
      await recordFailure(deps, call, attempt, error);
      throw error;
    }
  };

function attemptOf(deps: Deps, { request, response, params }: Called, action: string): Attempt {
  return new Attempt({
    id: deps.newId(),
    actor: null,
    clientId: clientIdOf(request.get("authorization")),
    action,
    targets: targetsOf(params),
    address: request.socket.remoteAddress ?? null,
    userAgent: request.get("user-agent")?.slice(0, MAX_USER_AGENT) ?? null,
    requestId: response.locals.requestId,
    holder: deps.instanceId,
  });
}

const clientIdOf = (authorization = ""): string | null =>
  parseCredentialKey(authorization.split(" ").at(-1) ?? "")?.clientId ?? null;

/** The numbers and ids in a path. Other texts are not recorded. */
function targetsOf(params: Called["params"]): Record<string, string | number> {
  const found = Object.entries(params).flatMap(([name, value]): [string, string | number][] => {
    if (typeof value !== "string") return [];
    if (/^-?\d{1,15}$/.test(value)) return [[name, Number(value)]];
    return isUuid(value) ? [[name, value]] : [];
  });
  return Object.fromEntries(found);
}

/**
 * Calls without a key and calls above a limit leave no row: a flood of them would fill the table.
 * The rows of refused calls count as stored answers do.
 */
async function recordFailure(
  { db }: Deps,
  { request, response }: Called,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const outcome = outcomeOf(error);
  // It has a row already, so the answer need not wait for a database that is away.
  if (attempt.isBegun)
    return releaseWithRetry(response.locals.log, "an audit row", () => attempt.end(db, outcome));
  if (outcome.status === 429 || request.get("authorization") === undefined) return;
  if (outcome.status === 401) attempt.forget();
  const { limiter } = response.locals;
  if (attempt.credentialId !== null) limiter.requireSpace(attempt.credentialId);
  await attempt.end(db, outcome);
  if (attempt.credentialId !== null) limiter.countStored(attempt.credentialId, null);
}
