import express, { type Express } from "express";
import packageJson from "../package.json" with { type: "json" };
import type { Deps } from "./actions/deps.ts";
import { errorHandler, unknownRoute } from "./http/errors.ts";
import { CallLimiter, type CallLimits } from "./http/call-limiter.ts";
import { HeldBodies } from "./http/held-bodies.ts";
import { MCP_PATH, mcpEndpoint } from "./http/mcp/mcp-endpoint.ts";
import { openApiDocument, serveOpenApi } from "./http/openapi.ts";
import { serveReadyz } from "./http/readyz.ts";
import { serveReference } from "./http/reference/page.ts";
import {
  ignoreCacheControlOnConditional,
  refuseOtherMethods,
  requireUnambiguous,
  setSecurityHeaders,
} from "./http/protocol.ts";
import { observeRequest, serveMetrics, type MetricsAccess } from "./http/metrics.ts";
import type { AuthMethod } from "./http/authenticate.ts";
import type { Console } from "./http/console/console.ts";
import { consoleRoutes } from "./http/console/console-routes.ts";
import { operationsRoutes } from "./http/console/operator-page.ts";
import { servePages } from "./http/console/pages.ts";
import { sessionAuth } from "./http/console/session-auth.ts";
import { serveSignIn } from "./http/console/sign-in-routes.ts";
import type { Route } from "./http/route.ts";
import { routes } from "./http/v1/routes.ts";
import type { LimitReached } from "./metrics/metrics.ts";
import type { Intake } from "./webhooks/intake.ts";
import type { DiskSpace } from "./store/db/disk-space.ts";
import { monitorEndpoint } from "./webhooks/monitor-endpoint.ts";
import { webhookEndpoint } from "./webhooks/webhook-endpoint.ts";

const ABOUT = {
  name: "Trunkline",
  message: "A work board whose cards own Git branches. Read the API reference at /docs.",
  docs: "/docs",
  openapi: "/v1/openapi.json",
};

/** The path of GitHub's webhooks, probot's default. */
export const WEBHOOK_PATH = "/api/github/webhooks";

/** The path of a monitor's reports. */
const MONITOR_PATH = "/monitors/:monitorId";

/** The bodies of senders who are not verified yet: room for the largest delivery and small ones. */
const UNVERIFIED_BYTES = 32 * 1024 * 1024;
/** GitHub gives up after 10 seconds. */
const UNVERIFIED_MS = 10_000;

export interface AppOptions {
  readonly intake: Intake;
  /** The App's webhook secret and, during a change, the previous one. */
  readonly webhookSecrets: readonly string[];
  readonly metrics: MetricsAccess;
  readonly limits: CallLimits;
  readonly hasAppKey: boolean;
  readonly disk: Pick<DiskSpace, "isFull">;
  readonly console: Console;
  /** Whether the process is shutting down. */
  readonly isDraining: () => boolean;
}

/** The HTTP service: webhooks, `/v1`, the console, health and metrics. */
export function createApp(deps: Deps, options: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  // X-Forwarded-For is not trusted: a caller's address matters only for keys that are not valid.
  app.set("trust proxy", false);
  app.set("etag", "strong");
  const onLimit = (limit: LimitReached): void => deps.metrics.limits.inc({ limit });
  const limiter = new CallLimiter(options.limits, onLimit);
  const unverified = new HeldBodies({
    bytes: UNVERIFIED_BYTES,
    arrivalMs: UNVERIFIED_MS,
    onEnd: () => onLimit("unverified_bodies"),
  });
  let document: object | undefined;
  const openApi = (): object => (document ??= openApiDocument(routes));
  app.use((request, response, next) => {
    setSecurityHeaders(response);
    observeRequest(deps, limiter, request, response);
    requireUnambiguous(request);
    ignoreCacheControlOnConditional(request);
    next();
  });
  app.post(WEBHOOK_PATH, webhookEndpoint(options.intake, options.webhookSecrets, unverified, deps.metrics));
  app.post(MONITOR_PATH, monitorEndpoint(deps, unverified));
  serveRoutes(app, deps, routes);
  const authMethod = sessionAuth(options.console);
  serveRoutes(app, deps, routes, { prefix: "/console", authMethod });
  serveRoutes(app, deps, consoleRoutes(options.console), { authMethod });
  serveRoutes(app, deps, operationsRoutes(options.console.examine), { authMethod });
  serveSignIn(app, deps, options.console, authMethod);
  app.post(MCP_PATH, mcpEndpoint(deps));
  app.get("/v1/openapi.json", serveOpenApi(openApi));
  app.get("/", (request, response, next) => {
    response.vary("Accept");
    if (request.accepts("json", "html") === "html") next();
    else response.json({ ...ABOUT, version: packageJson.version });
  });
  app.get("/docs", serveReference(openApi));
  app.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  app.get("/readyz", serveReadyz({ db: deps.db, log: deps.log, ...options }));
  app.get("/metrics", serveMetrics(deps, options));
  servePages(app, options.console);
  refuseOtherMethods(app);
  app.use(unknownRoute);
  app.use(errorHandler);
  return app;
}

interface Mount {
  /** Precedes the paths of the routes. */
  readonly prefix?: string;
  /** How the requests say who makes them; by API keys unless given. */
  readonly authMethod?: AuthMethod;
}

function serveRoutes(
  app: Express,
  deps: Deps,
  served: readonly Route[],
  { prefix = "", authMethod }: Mount = {},
): void {
  for (const { definition, serve } of served) {
    const path = `${prefix}${definition.path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
    app[definition.method](path, async (request, response) => {
      if (authMethod) {
        response.locals.authMethod = authMethod;
        // Proxies may store what depends on a cookie, unlike what depends on `Authorization`.
        response.set("Cache-Control", "private, no-cache");
      }
      try {
        await serve(deps, request, response);
      } finally {
        response.locals.limiter.leave(response);
      }
    });
  }
}
