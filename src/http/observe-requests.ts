import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import type { Logger } from "pino";
import { validate as isUuid } from "uuid";
import type { Deps } from "../actions/deps.ts";
import type { Gate } from "./gate.ts";

/** What a request carries along. Its log is made when something is to be said, which for most is once, at the end. */
export class Observed {
  readonly requestId: string;
  readonly gate: Gate;
  readonly #log: Logger;
  #own: Logger | undefined;

  constructor(requestId: string, gate: Gate, log: Logger) {
    this.requestId = requestId;
    this.gate = gate;
    this.#log = log;
  }

  get log(): Logger {
    return (this.#own ??= this.#log.child({ requestId: this.requestId }));
  }
}

/** Gives a request its id, said to the caller and in the log, logs how it ends, and counts it. */
export function observeRequest(
  { log, metrics }: Pick<Deps, "log" | "metrics">,
  gate: Gate,
  request: Request,
  response: Response,
): void {
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && isUuid(given) ? given : randomUUID();
  const started = performance.now();
  response.locals = new Observed(requestId, gate, log);
  response.setHeader("X-Request-Id", requestId);
  response.on("finish", () => {
    const ms = performance.now() - started;
    const { method, path } = request;
    const { statusCode: status } = response;
    log.info({ requestId, method, path, status, ms: Math.round(ms) }, "request");
    const route = templateOf(request.route);
    metrics.requests.inc({ method, route, status });
    metrics.requestSeconds.observe({ method, route }, ms / 1_000);
    if (response.hasHeader("Idempotent-Replay")) metrics.replays.inc();
  });
}

/** The route as the OpenAPI document writes it: a raw path would be a label for every card. */
function templateOf(matched: unknown): string {
  const path = (matched as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? path.replaceAll(/:(\w+)/g, "{$1}") : "(none)";
}
