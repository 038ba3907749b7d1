import { createHash } from "node:crypto";
import type { ForgeContext } from "../context.ts";
import type { ApiCall, GraphqlHandler } from "../hooks.ts";
import type { ForgeResponse } from "./api-error.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { acceptedPermissions, assertPermitted, findRepository, roleIn } from "./access.ts";
import { ApiError, notFound } from "./api-error.ts";
import { selectVersion } from "./api-version.ts";
import { authenticate } from "./authenticate.ts";
import { isFields, parseFields } from "./body-fields.ts";
import type { Caller } from "./caller.ts";
import { graphqlRequest } from "../control/match.ts";
import { fullNameOf } from "../present/repository.ts";
import { HourlyLimitExceeded, rateLimitHeaders, type RateLimits, type Resource } from "./rate-limits.ts";
import type { RepositoryCall, Route } from "./route.ts";
import type { MatchedRoute } from "./route-table.ts";

interface HandledCall {
  readonly response: ForgeResponse;
  readonly by: string | null;
  readonly counted: boolean;
}

/** Paths that do not count against the rate limit. */
const UNLIMITED_PATHS = new Set(["/rate_limit"]);

interface Handlers {
  readonly forge: ForgeContext;
  readonly limits: RateLimits;
  readonly graphql: GraphqlHandler | undefined;
}

/** Runs a call and returns its response; errors become responses. */
export async function handleCall(
  handlers: Handlers,
  call: ApiCall,
  url: URL,
  matched: MatchedRoute | null,
): Promise<HandledCall> {
  const { forge, limits } = handlers;
  const isGraphql = call.route === "POST /graphql";
  const resource: Resource = isGraphql ? "graphql" : "core";
  let caller: Caller = { kind: "anonymous" };
  let counted = false;
  let response: ForgeResponse;
  try {
    caller = authenticate(forge, textHeader(call, "authorization"));
    const transform = selectVersion(textHeader(call, "x-github-api-version"));
    if (!UNLIMITED_PATHS.has(call.path)) limits.take(caller, resource);
    counted = !UNLIMITED_PATHS.has(call.path);
    if (isGraphql ? graphqlRequest(call).isMutation : call.method !== "GET") limits.takeWrite(caller);
    response = isGraphql
      ? await runGraphql(handlers, caller, call)
      : withEtag(call, transform(await runRest(handlers, caller, call, url, matched)));
    if (response.status === 304) {
      // GitHub does not count conditional requests that return 304.
      limits.refund(caller, resource);
      counted = false;
    }
  } catch (error) {
    response = errorResponse(forge, call, error);
  }
  const headers = { ...rateLimitHeaders(limits.read(caller, resource), resource), ...response.headers };
  return { response: { ...response, headers }, by: loginOf(caller), counted };
}

async function runRest(
  { forge, limits }: Handlers,
  caller: Caller,
  call: ApiCall,
  url: URL,
  matched: MatchedRoute | null,
): Promise<ForgeResponse> {
  if (matched === null) throw notFound();
  const { route, params } = matched;
  assertCallerKind(caller, route);
  const repository =
    route.access === "repository" ? repositoryOrRedirect(forge, caller, call, url, matched) : null;
  if (repository !== null && "status" in repository) return repository;
  const full: RepositoryCall = {
    forge,
    caller,
    params,
    query: url.searchParams,
    fields: parseFields(call.body),
    apiCall: call,
    limits,
    url,
    // Routes outside a repository get a `RestCall`, which has no `repository`.
    repository: repository as RepositoryRow,
    actor: actorOf(forge, caller),
  };
  const response = await route.handle(full);
  if (caller.kind !== "installation") return response;
  return { ...response, headers: { ...acceptedPermissions(route), ...response.headers } };
}

/** The repository of a call, or the redirect to its new URL. */
function repositoryOrRedirect(
  forge: ForgeContext,
  caller: Caller,
  call: ApiCall,
  url: URL,
  { route, params }: MatchedRoute,
): RepositoryRow | ForgeResponse {
  const { owner = "", repo = "" } = params;
  const { hasPathsById } = forge.settings;
  if (!hasPathsById && call.path.startsWith("/repositories/")) throw notFound();
  const found = findRepository(forge, owner, repo);
  if (found === null) throw notFound();
  if ("movedTo" in found) {
    if (roleIn(forge, caller, found.movedTo) === null) throw notFound();
    const rest = call.path.split("/").slice(4);
    const prefix = url.pathname.startsWith("/api/v3/") ? "/api/v3" : "";
    const base = hasPathsById
      ? ["repositories", found.movedTo.id]
      : ["repos", fullNameOf(forge, found.movedTo)];
    const location = `${url.origin}${prefix}/${[...base, ...rest].join("/")}${url.search}`;
    const documentation_url = "https://docs.github.com/rest";
    return {
      status: call.method === "GET" || call.method === "HEAD" ? 301 : 307,
      headers: { location },
      body: { message: "Moved Permanently", url: location, documentation_url },
    };
  }
  assertPermitted(forge, caller, found.repository, route);
  return found.repository;
}

function assertCallerKind(caller: Caller, route: Route): void {
  switch (route.access) {
    case "app":
      if (caller.kind !== "app") throw new ApiError(401, "A JSON web token could not be decoded");
      return;
    case "installation":
      if (caller.kind !== "installation")
        throw new ApiError(
          403,
          "You must authenticate with an installation access token in order to list repositories for an installation.",
        );
      return;
    case "person":
    case "signed-in":
      if (caller.kind === "anonymous" || caller.kind === "app")
        throw new ApiError(401, "Requires authentication");
      if (route.access === "person" && caller.kind === "installation")
        throw new ApiError(403, "Resource not accessible by integration");
      return;
    case "anyone":
    case "repository":
      return;
  }
}

async function runGraphql(
  { forge, graphql, limits }: Handlers,
  caller: Caller,
  call: ApiCall,
): Promise<ForgeResponse> {
  if (caller.kind === "anonymous" || caller.kind === "app")
    throw new ApiError(401, "This endpoint requires you to be authenticated.");
  if (graphql === undefined) throw notFound();
  const { query, variables, operationName } = parseFields(call.body);
  if (typeof query !== "string")
    throw new ApiError(400, "A query attribute must be specified and must be a string.");
  return graphql(forge, {
    caller,
    budget: limits.read(caller, "graphql"),
    query,
    variables: isFields(variables) ? variables : {},
    operationName: typeof operationName === "string" ? operationName : null,
  });
}

function errorResponse(forge: ForgeContext, call: ApiCall, error: unknown): ForgeResponse {
  // GraphQL reports it with status 200.
  if (error instanceof HourlyLimitExceeded && call.route === "POST /graphql")
    return { status: 200, body: { errors: [{ type: "RATE_LIMITED", message: error.message }] } };
  if (error instanceof ApiError) return error.toResponse();
  forge.log.error({ err: error, route: call.route, path: call.path }, "the forge failed to handle a call");
  return new ApiError(500, "Server Error").toResponse();
}

/** Adds an ETag to the response of a read; 304 without body if `if-none-match` has it. */
function withEtag(call: ApiCall, response: ForgeResponse): ForgeResponse {
  if (call.method !== "GET" || response.status !== 200) return response;
  const text = typeof response.body === "string" ? response.body : JSON.stringify(response.body);
  const etag = `W/"${createHash("sha256").update(text).digest("hex")}"`;
  const headers = { ...response.headers, etag, "cache-control": "private, max-age=60, s-maxage=60" };
  const known = textHeader(call, "if-none-match")
    ?.split(",")
    .map((each) => each.trim().replace(/^W\//, ""));
  if (known?.includes(etag.slice(2)) || known?.includes("*")) return { status: 304, headers, body: null };
  return { ...response, headers };
}

export function textHeader(call: ApiCall, name: string): string | undefined {
  const value = call.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function actorOf(forge: ForgeContext, caller: Caller): AccountRow {
  if (caller.kind === "person" || caller.kind === "installation") return caller.account;
  if (caller.kind === "app") return forge.state.accounts.need(caller.app.botId);
  return GHOST;
}

/** GitHub's account for an unknown user. */
const GHOST: AccountRow = {
  id: 10_137,
  login: "ghost",
  type: "User",
  name: "Deleted user",
  email: "ghost@users.noreply.sandbox.invalid",
  createdAt: "2008-01-01T00:00:00Z",
  members: {},
};

function loginOf(caller: Caller): string | null {
  if (caller.kind === "app") return "app";
  return caller.kind === "anonymous" ? null : caller.account.login;
}
