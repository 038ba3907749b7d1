import { createHash } from "node:crypto";
import type { ForgeContext } from "../context.ts";
import type { ApiCall, GraphqlHandler } from "../hooks.ts";
import type { Answer } from "./api-error.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { acceptedPermissions, assertPermitted, findRepository, roleIn } from "./access.ts";
import { ApiError, notFound } from "./api-error.ts";
import { selectVersion } from "./api-version.ts";
import { authenticate } from "./authenticate.ts";
import { isFields, parseFields } from "./body-fields.ts";
import type { Caller } from "./caller.ts";
import { graphqlRequest } from "../control/match.ts";
import { rateLimitHeaders, type RateLimits, type Resource } from "./rate-limits.ts";
import type { RepositoryCall, Route } from "./route.ts";
import type { MatchedRoute } from "./route-table.ts";

/** An answer and who it went to. */
export interface HandledCall {
  readonly answer: Answer;
  readonly by: string | null;
  readonly counted: boolean;
}

/** Addresses that are free of the rate limit. */
const UNLIMITED_PATHS = new Set(["/rate_limit"]);

export interface Handlers {
  readonly forge: ForgeContext;
  readonly limits: RateLimits;
  readonly graphql: GraphqlHandler | undefined;
}

/** Does what a call asks for and answers it; refusals are answers too. */
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
  let answer: Answer;
  try {
    caller = authenticate(forge, textHeader(call, "authorization"));
    const transform = selectVersion(textHeader(call, "x-github-api-version"));
    if (!UNLIMITED_PATHS.has(call.path)) limits.take(caller, resource);
    counted = !UNLIMITED_PATHS.has(call.path);
    if (isGraphql ? graphqlRequest(call).isMutation : call.method !== "GET") limits.takeWrite(caller);
    answer = isGraphql
      ? await runGraphql(handlers, caller, call)
      : withEtag(call, transform(await runRest(handlers, caller, call, url, matched)));
    if (answer.status === 304) {
      limits.refund(caller, resource);
      counted = false;
    }
  } catch (error) {
    answer = errorResponse(forge, call, error);
  }
  const headers = { ...rateLimitHeaders(limits.read(caller, resource), resource), ...answer.headers };
  return { answer: { ...answer, headers }, by: loginOf(caller), counted };
}

async function runRest(
  { forge, limits }: Handlers,
  caller: Caller,
  call: ApiCall,
  url: URL,
  matched: MatchedRoute | null,
): Promise<Answer> {
  if (matched === null) throw notFound();
  const { route, params } = matched;
  assertCallerKind(caller, route);
  const place =
    route.access === "repository" ? repositoryOrRedirect(forge, caller, call, url, matched) : null;
  if (place !== null && "status" in place) return place;
  const full: RepositoryCall = {
    forge,
    caller,
    params,
    query: url.searchParams,
    fields: parseFields(call.body),
    call,
    limits,
    url,
    // Routes outside a repository are given a `RestCall`, which has neither of these.
    repository: place as RepositoryRow,
    actor: actorOf(forge, caller),
  };
  const answer = await route.handle(full);
  if (caller.kind !== "installation") return answer;
  return { ...answer, headers: { ...acceptedPermissions(route), ...answer.headers } };
}

/** The repository a call is about, or the redirect to where it is now. */
function repositoryOrRedirect(
  forge: ForgeContext,
  caller: Caller,
  call: ApiCall,
  url: URL,
  { route, params }: MatchedRoute,
): RepositoryRow | Answer {
  const { owner = "", repo = "" } = params;
  const found = findRepository(forge, owner, repo);
  if (found === null) throw notFound();
  if ("movedTo" in found) {
    if (roleIn(forge, caller, found.movedTo) === null) throw notFound();
    const rest = call.path.split("/").slice(4);
    const prefix = url.pathname.startsWith("/api/v3/") ? "/api/v3" : "";
    const location = `${url.origin}${prefix}/${["repositories", found.movedTo.id, ...rest].join("/")}${url.search}`;
    const body = {
      message: "Moved Permanently",
      url: location,
      documentation_url: "https://docs.github.com/rest",
    };
    return {
      status: call.method === "GET" || call.method === "HEAD" ? 301 : 307,
      headers: { location },
      body,
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
): Promise<Answer> {
  if (caller.kind === "anonymous" || caller.kind === "app")
    throw new ApiError(401, "This endpoint requires you to be authenticated.");
  if (graphql === undefined) throw notFound();
  const fields = parseFields(call.body);
  const { query, variables, operationName } = fields;
  if (typeof query !== "string")
    throw new ApiError(400, "A query attribute must be specified and must be a string.");
  return graphql(forge, {
    caller,
    budget: limits.read(caller, "graphql"),
    query,
    variables: isFields(variables) ? variables : {},
    operationName: typeof operationName === "string" ? operationName : null,
    headers: call.headers,
  });
}

function errorResponse(forge: ForgeContext, call: ApiCall, error: unknown): Answer {
  if (error instanceof ApiError) return error.toAnswer();
  forge.log.error({ err: error, route: call.route, path: call.path }, "the forge could not answer");
  return new ApiError(500, "Server Error").toAnswer();
}

/** Marks an answer to a read, and leaves out a body the caller has. */
function withEtag(call: ApiCall, answer: Answer): Answer {
  if (call.method !== "GET" || answer.status !== 200) return answer;
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
  const etag = `W/"${createHash("sha256").update(text).digest("hex")}"`;
  const headers = { ...answer.headers, etag, "cache-control": "private, max-age=60, s-maxage=60" };
  const known = textHeader(call, "if-none-match")
    ?.split(",")
    .map((each) => each.trim().replace(/^W\//, ""));
  if (known?.includes(etag.slice(2)) || known?.includes("*")) return { status: 304, headers, body: null };
  return { ...answer, headers };
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

/** GitHub's stand-in for nobody. */
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
