import { randomUUID, createHash, timingSafeEqual } from "node:crypto";
import type { Request, Response, RequestHandler } from "express";
import type { Logger } from "pino";
import { validate as isUuid } from "uuid";
import type { Deps } from "../actions/deps.ts";
import { Problem } from "../errors.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Db } from "../store/db/connect.ts";
import type { DiskSpace } from "../store/db/disk-space.ts";
import { readQueueStatistics } from "../store/ops/queue-statistics.ts";
import { API_KEY, type AuthMethod } from "./authenticate.ts";
import type { CallLimiter } from "./call-limiter.ts";
import { REPLAY_HEADER } from "./idempotency.ts";

/** The locals of a request. Its logger is created on first use. */
export class RequestLocals {
  readonly requestId: string;
  readonly limiter: CallLimiter;
  authMethod: AuthMethod = API_KEY;
  clientId: string | undefined;
  isRoutine = false;
  readonly #log: Logger;
  #own: Logger | undefined;

  constructor(requestId: string, limiter: CallLimiter, log: Logger) {
    this.requestId = requestId;
    this.limiter = limiter;
    this.#log = log;
  }

  get log(): Logger {
    return (this.#own ??= this.#log.child({ requestId: this.requestId }));
  }
}

/** Sets the id of a request, and logs and counts the request when it ends. */
export function observeRequest(
  { log, metrics }: Pick<Deps, "log" | "metrics">,
  limiter: CallLimiter,
  request: Request,
  response: Response,
): void {
  // A caller must not choose the id under which its call is logged and audited.
  const requestId = randomUUID();
  const given = request.headers["x-request-id"];
  const callerRequestId = typeof given === "string" && isUuid(given) ? given : undefined;
  const { remoteAddress } = request.socket;
  const started = performance.now();
  response.locals = new RequestLocals(requestId, limiter, log);
  response.setHeader("X-Request-Id", requestId);
  response.on("finish", () => {
    const ms = performance.now() - started;
    const { method, path } = request;
    const { statusCode: status } = response;
    const { clientId, isRoutine } = response.locals;
    const level = isRoutine && status < 400 ? "debug" : "info";
    const duration = Math.round(ms);
    log[level](
      { requestId, callerRequestId, method, path, status, ms: duration, clientId, remoteAddress },
      "request",
    );
    const route = templateOf(request.route);
    metrics.requests.inc({ method, route, status });
    metrics.requestSeconds.observe({ method, route }, ms / 1_000);
    if (response.hasHeader(REPLAY_HEADER)) metrics.replays.inc();
  });
}

/** The route as in OpenAPI. The raw path would make one label value per card. */
function templateOf(matched: unknown): string {
  const path = (matched as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? path.replaceAll(/:(\w+)/g, "{$1}") : "(none)";
}

/** Who may read the metrics: callers with the token, everyone, or no one. */
export type MetricsAccess = { readonly token: string } | "open" | "off";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Serves Prometheus metrics. Without a database: those of the process and `trunkline_database_up
 * 0`.
 */
export const serveMetrics =
  (
    { db, metrics }: { readonly db: Db; readonly metrics: Metrics },
    { metrics: access, disk }: { readonly metrics: MetricsAccess; readonly disk: Pick<DiskSpace, "isFull"> },
  ): RequestHandler =>
  async (request, response) => {
    if (access === "off") {
      throw new Problem("not_found", "Metrics are off. Set METRICS_TOKEN to turn them on.");
    }
    if (access !== "open" && !bears(request.get("authorization"), access.token)) {
      throw new Problem("unauthenticated", "Send METRICS_TOKEN as `Authorization: Bearer <token>`.");
    }
    metrics.diskFull.set(disk.isFull() ? 1 : 0);
    await readGauges(db, metrics);
    response.set("Content-Type", metrics.registry.contentType).send(await metrics.registry.metrics());
  };

function bears(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

async function readGauges(db: Db, { queueStatistics }: Metrics): Promise<void> {
  const { databaseUp, ...gauges } = queueStatistics;
  try {
    const found = await readQueueStatistics(db);
    databaseUp.set(1);
    for (const [name, gauge] of Object.entries(gauges)) gauge.set(found[name as keyof typeof found]);
  } catch {
    databaseUp.set(0);
    // The last values would look current.
    for (const gauge of Object.values(gauges)) gauge.set(Number.NaN);
  }
}
