import express, { type Express, type RequestHandler } from "express";
import { v7 as uuidv7, validate as isUuid } from "uuid";
import type { Deps } from "./actions/deps.ts";
import { honourIfNoneMatch } from "./http/conditional.ts";
import { errorHandler, unknownRoute } from "./http/errors.ts";
import { openApiDocument } from "./http/openapi.ts";
import { serveReference } from "./http/reference/serve-reference.ts";
import { routes } from "./http/v1/routes.ts";
import { pendingMigrations } from "./store/migrate.ts";
import { webhookDoor } from "./webhooks/door.ts";

/** Where GitHub sends its deliveries: probot's default. */
export const WEBHOOK_PATH = "/api/github/webhooks";

export interface AppOptions {
  /** The App's webhook secret, and while it is being changed the one before it. */
  readonly webhookSecrets: readonly string[];
}

/** The HTTP service: the webhook door, `/v1` and health. It does not listen yet. */
export function createApp(deps: Deps, { webhookSecrets }: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", "strong");
  app.use(nameRequest(deps));
  app.use(honourIfNoneMatch);
  app.post(WEBHOOK_PATH, ...webhookDoor(deps, webhookSecrets));
  for (const { definition, serve } of routes) {
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app[definition.method](path, (request, response) => serve(deps, request, response));
  }
  const document = openApiDocument(routes);
  app.get("/v1/openapi.json", (_request, response) => {
    response.json(document);
  });
  app.get("/docs", serveReference(document));
  app.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  app.get("/readyz", async (_request, response) => {
    const pending = await pendingMigrations(deps.db);
    const isReady = pending.length === 0;
    response.status(isReady ? 200 : 503).json({ status: isReady ? "ready" : "not ready", pending });
  });
  app.use(unknownRoute);
  app.use(errorHandler);
  return app;
}

/** Gives every request an id, said to the caller and in the log, and logs how it ended. */
const nameRequest =
  (deps: Deps): RequestHandler =>
  (request, response, next) => {
    const given = request.get("x-request-id");
    const requestId = given !== undefined && isUuid(given) ? given : uuidv7();
    const started = performance.now();
    response.locals.requestId = requestId;
    response.locals.log = deps.log.child({ requestId });
    response.set("X-Request-Id", requestId);
    response.on("finish", () => {
      const ms = Math.round(performance.now() - started);
      const { method, path } = request;
      response.locals.log.info({ method, path, status: response.statusCode, ms }, "request");
    });
    next();
  };
