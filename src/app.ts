import express, { type Request, type Response } from "express";
import type { Deps } from "./actions/deps.ts";
import { honourIfNoneMatch } from "./http/conditional.ts";
import { errorHandler, unknownRoute } from "./http/errors.ts";
import { messagesOf } from "./http/express-messages.ts";
import { Gate, type CallLimits } from "./http/gate.ts";
import { observeRequest } from "./http/observe-requests.ts";
import type { Served } from "./http/listen.ts";
import { refuseOtherMethods } from "./http/other-methods.ts";
import { openApiDocument } from "./http/openapi.ts";
import { serveReadiness } from "./http/readiness.ts";
import { serveReference } from "./http/reference/serve-reference.ts";
import { requireReadable } from "./http/readable-request.ts";
import { setSecurityHeaders } from "./http/security-headers.ts";
import { serveMetrics, type MetricsAccess } from "./http/serve-metrics.ts";
import type { Route } from "./http/route.ts";
import { straightToRoutes } from "./http/straight-to-routes.ts";
import { routes } from "./http/v1/routes.ts";
import type { Intake } from "./webhooks/intake.ts";
import { monitorDoor } from "./webhooks/monitor-door.ts";
import { webhookDoor } from "./webhooks/door.ts";

/** Where GitHub sends its deliveries: probot's default. */
export const WEBHOOK_PATH = "/api/github/webhooks";

/** Where monitors report production errors. */
const MONITOR_PATH = "/monitors/:monitorId";

export interface AppOptions {
  /** Where the forge's deliveries go. */
  readonly intake: Intake;
  /** The App's webhook secret, and while it is being changed the one before it. */
  readonly webhookSecrets: readonly string[];
  readonly metrics: MetricsAccess;
  readonly limits: CallLimits;
  readonly hasAppKey: boolean;
  /** Whether the process is about to end. */
  readonly isDraining: () => boolean;
}

let documented: object | undefined;

/** Made when it is first asked for: most starts are for other things, and it takes a twentieth of a second. */
const documentOfRoutes = (): object => (documented ??= openApiDocument(routes));

/** The HTTP service, for a server: the webhook door, `/v1`, health and metrics. */
export function createApp(deps: Deps, options: AppOptions): Served {
  const app = express();
  app.disable("x-powered-by");
  // No proxy has to be believed: a caller's address never decides over a valid key.
  app.set("trust proxy", false);
  app.set("etag", "strong");
  const gate = new Gate(options.limits);
  const begin = (request: Request, response: Response): void => {
    setSecurityHeaders(response);
    observeRequest(deps, gate, request, response);
    requireReadable(request);
    honourIfNoneMatch(request);
  };
  const serve = async (route: Route, request: Request, response: Response): Promise<void> => {
    try {
      await route.serve(deps, request, response);
    } finally {
      gate.leave(response);
    }
  };
  app.use((request, response, next) => {
    begin(request, response);
    next();
  });
  app.post(WEBHOOK_PATH, webhookDoor(options.intake, options.webhookSecrets, deps.metrics));
  app.post(MONITOR_PATH, ...monitorDoor(deps));
  for (const route of routes) {
    const { method, path } = route.definition;
    app[method](path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, response) => serve(route, request, response));
  }
  app.get("/v1/openapi.json", (_request, response) => {
    response.json(documentOfRoutes());
  });
  app.get("/", (_request, response) => {
    response.json({
      message: "This is Trunkline. The API is read about at /docs and described at /v1/openapi.json.",
      docs: "/docs",
      openapi: "/v1/openapi.json",
    });
  });
  app.get("/docs", serveReference(documentOfRoutes));
  app.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  app.get("/readyz", serveReadiness({ db: deps.db, log: deps.log, ...options }));
  app.get("/metrics", serveMetrics(deps, options.metrics));
  refuseOtherMethods(app);
  app.use(unknownRoute);
  app.use(errorHandler);
  const listener = straightToRoutes(app, routes, (route, request, response) => {
    begin(request, response);
    return serve(route, request, response);
  });
  return { listener, messages: messagesOf(app) };
}
