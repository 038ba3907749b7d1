import { randomUUID } from "node:crypto";
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express";
import type { ForgeContext } from "../context.ts";
import { graphqlRequest } from "../control/match.ts";
import { serveNewApp } from "../app-manifest.ts";
import { serveOauth } from "../oauth/serve-oauth.ts";
import type { ApiCall, AroundCall, ForgeHooks } from "../hooks.ts";
import { servePages } from "../pages/serve-pages.ts";
import { restRoutes } from "../rest/routes.ts";
import { serveGit } from "../smart-http/serve-git.ts";
import { type ForgeResponse, ApiError } from "./api-error.ts";
import { handleCall } from "./handle-call.ts";
import { makeRateLimits } from "./rate-limits.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";
import { makeRouteTable } from "./route-table.ts";

const BODY_LIMIT = "30mb";
const GRAPHQL_PATHS = new Set(["/api/graphql", "/graphql"]);

/** The forge's HTTP server: Git, GraphQL, REST and pages for browsers. */
export function createForgeApp(forge: ForgeContext, hooks: ForgeHooks, requests: RequestLog): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  hooks.mount?.(app, forge);
  app.use(serveGit(forge));
  app.get("/avatars/u/:id", serveAvatar);
  app.use(serveNewApp(forge));
  app.use(serveOauth(forge));
  app.use(servePages(forge));
  app.use(express.raw({ type: () => true, limit: BODY_LIMIT }));
  app.use(serveApi(forge, hooks, requests));
  app.use(handleBodyError(forge));
  return app;
}

/** Handles errors before routing, such as a body that is too large. */
function handleBodyError(forge: ForgeContext): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = Number((error as { status?: unknown }).status ?? 500);
    if (status >= 500) forge.log.error({ err: error }, "the forge failed to handle a request");
    const message = status >= 500 ? "Server Error" : "Problems reading the request";
    response.status(status).json(new ApiError(status, message).toResponse().body);
  };
}

function serveApi(forge: ForgeContext, hooks: ForgeHooks, requests: RequestLog) {
  const table = makeRouteTable(restRoutes);
  const handlers = { forge, limits: makeRateLimits(forge), graphql: hooks.graphql };
  const around: AroundCall = hooks.aroundCall ?? ((_call, proceed) => proceed());
  return async (request: Request, response: Response): Promise<void> => {
    const url = new URL(request.originalUrl, `http://${request.headers.host ?? "localhost"}`);
    const path = url.pathname.replace(/^\/api\/v3(?=\/|$)/, "") || "/";
    const isGraphql = request.method === "POST" && GRAPHQL_PATHS.has(url.pathname);
    const matched = isGraphql ? null : table.match(request.method, path);
    const call: ApiCall = {
      id: randomUUID().toUpperCase(),
      method: request.method,
      path,
      route: isGraphql ? "POST /graphql" : matched && `${matched.route.method} ${matched.route.path}`,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    };
    let logged: Pick<LoggedRequest, "by" | "counted"> = { by: null, counted: false };
    const outcome = await around(call, async (view = forge) => {
      const { response: result, ...rest } = await handleCall(
        { ...handlers, forge: view },
        call,
        url,
        matched,
      );
      logged = rest;
      return result;
    });
    const status = typeof outcome === "string" ? 0 : outcome.status;
    const [operation = null] = graphqlRequest(call).names;
    requests.add({ method: call.method, route: call.route, path: call.path, operation, status, ...logged });
    if (outcome === "reset") request.socket.resetAndDestroy();
    else if (outcome !== "hang") sendResponse(response, call, outcome);
  };
}

function sendResponse(response: Response, call: ApiCall, { status, headers, body }: ForgeResponse): void {
  response.status(status);
  response.set({
    "content-type": "application/json; charset=utf-8",
    "x-github-media-type": "github.v3; format=json",
    server: "github.com",
    ...headers,
    "x-github-request-id": call.id,
  });
  if (body === null || body === undefined) {
    response.removeHeader("content-type");
    response.end();
  } else response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** An SVG circle whose color depends on the account id. */
function serveAvatar(request: Request, response: Response): void {
  const id = Number(request.params["id"]);
  const hue = Number.isInteger(id) ? (id * 137) % 360 : 0;
  response.type("image/svg+xml").set("cache-control", "max-age=86400");
  response.send(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 80"><circle cx="40" cy="40" r="40" fill="hsl(${hue} 55% 60%)"/></svg>`,
  );
}
