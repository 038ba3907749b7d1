import { validate as isUuid } from "uuid";
import { Attempt } from "../actions/attempt.ts";
import type { Deps } from "../actions/deps.ts";
import { freeWithRetry } from "../actions/write.ts";
import { outcomeOf } from "./errors.ts";
import type { Exchange, RouteDefinition } from "./route.ts";

/** The maximum length of a stored user agent, in characters. */
const MAX_USER_AGENT = 200;

type Called = Pick<Exchange, "request" | "response" | "params">;

/**
 * Wraps the handler of a write, so that each call has one row in the audit log. `Write` ends the row
 * of a success in the transaction of its effect. A failure is recorded here, before the response; if it
 * cannot be recorded, the call fails.
 */
export const audited =
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

/** An attempt of the request. `clientId` is that of its caller by default. */
export function attemptOf(
  deps: Pick<Deps, "newId" | "instanceId">,
  { request, response, params }: Called,
  action: string,
  clientId = response.locals.authMethod.presented(request)?.clientId ?? null,
): Attempt {
  return new Attempt({
    id: deps.newId(),
    actor: null,
    clientId,
    action,
    targets: targetsOf(params),
    address: request.socket.remoteAddress ?? null,
    userAgent: request.get("user-agent")?.slice(0, MAX_USER_AGENT) ?? null,
    requestId: response.locals.requestId,
    holder: deps.instanceId,
  });
}

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
 * Calls without a key and calls above a limit have no row: they could fill the table. Rows of other
 * failed calls count towards the limit of stored responses (`STORED_RESPONSES_MB`).
 */
async function recordFailure(
  { db }: Deps,
  { request, response }: Called,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const outcome = outcomeOf(error);
  // The row exists, so the response does not wait for an unavailable database.
  if (attempt.isBegun)
    return freeWithRetry(response.locals.log, "an audit row", () => attempt.end(db, outcome));
  if (outcome.status === 429 || response.locals.authMethod.presented(request) === undefined) return;
  if (outcome.status === 401) attempt.clearCaller();
  const { limiter } = response.locals;
  if (attempt.credentialId !== null) limiter.requireSpace(attempt.credentialId);
  await attempt.end(db, outcome);
  if (attempt.credentialId !== null) limiter.countStored(attempt.credentialId, null);
}
