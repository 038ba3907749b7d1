import type { RequestHandler } from "express";
import { v7 as uuidv7, validate as isUuid } from "uuid";
import type { Deps } from "../actions/deps.ts";

/** Gives every request an id, said to the caller and in the log, logs how it ended, and counts it. */
export const observeRequests =
  (deps: Deps): RequestHandler =>
  (request, response, next) => {
    const given = request.get("x-request-id");
    const requestId = given !== undefined && isUuid(given) ? given : uuidv7();
    const started = performance.now();
    response.locals.requestId = requestId;
    response.locals.log = deps.log.child({ requestId });
    response.set("X-Request-Id", requestId);
    response.on("finish", () => {
      const ms = performance.now() - started;
      const { method, path } = request;
      const { statusCode: status } = response;
      response.locals.log.info({ method, path, status, ms: Math.round(ms) }, "request");
      const route = templateOf(request.route);
      deps.metrics.requests.inc({ method, route, status });
      deps.metrics.requestSeconds.observe({ method, route }, ms / 1_000);
      if (response.hasHeader("Idempotent-Replay")) deps.metrics.replays.inc();
    });
    next();
  };

/** The route as the OpenAPI document writes it: a raw path would be a label for every card. */
function templateOf(matched: unknown): string {
  const path = (matched as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? path.replaceAll(/:(\w+)/g, "{$1}") : "(none)";
}
