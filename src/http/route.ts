import type { Request, Response } from "express";
import type { z } from "zod";
import type { Deps } from "../actions/deps.ts";
import type { Role } from "../flow/roles.ts";
import type { CallContext, Forge } from "../forge/forge.ts";
import type { BoardRole, Credential, CachedCredential } from "../store/tenancy/credentials.ts";
import { jsonOf } from "../store/db/json-text.ts";
import { RenderedResponse } from "../store/cards/cached-boards.ts";
import { boardOf, requireRole, WORKSPACE_HEADER } from "./resolve.ts";
import { CLAIM_HEADER } from "./claim-header.ts";
import { etagOf, MATCH_HEADER } from "./etag.ts";
import { KEY_HEADER } from "./idempotency.ts";
import { requireNoBodySent, sendJson } from "./json.ts";
import { validate, validateQuery } from "./validate.ts";

/** The declaration of a route. The OpenAPI document is generated from these. */
export interface RouteDefinition {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With parameters in braces: `/v1/cards/{number}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** `credential` routes concern the credential, not a board. */
  readonly about: "credential" | "board";
  readonly role: Role;
  /** Whether responses with 200 have an ETag for `If-Match`, and a write takes that header. */
  readonly isVersioned?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly responses: Readonly<Record<number, RouteResponse>>;
}

interface RouteResponse {
  readonly description: string;
  /** Null if the response has no body. */
  readonly schema: z.ZodType | null;
  readonly headers?: z.ZodObject;
  /** Defaults to `application/json`. */
  readonly contentType?: string;
}

export interface Route {
  readonly definition: RouteDefinition;
  /** Responds to an HTTP request. */
  readonly serve: (deps: Deps, request: Request, response: Response) => Promise<void>;
  /** Returns the response. Throws a `Problem`. Null for a route that streams its response. */
  readonly run: ((deps: Deps, exchange: Exchange) => Promise<RouteResult>) | null;
}

/** A call of a route: an HTTP request for it, or the call of a tool that names it. */
export interface Exchange {
  /** The HTTP request that carries the call: it has the credential, the limits and the log. */
  readonly request: Request;
  readonly response: Response;
  /** The path with its parameters, as in `/v1/cards/7`. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The idempotency key of a write. */
  readonly key: string | undefined;
  /** The claim under which a write on a card is made. */
  readonly claim: string | undefined;
  /** `If-Match`: the changed document must have one of these ETags. */
  readonly ifMatch: string | undefined;
  /** Reads the body, undefined if there is none. It can be read only once. */
  readonly readBody: (board: BoardRole) => Promise<unknown>;
  /** Refuses a body, without reading it. */
  readonly requireNoBody: () => void;
  readonly setHeader: (name: string, value: string) => void;
}

export interface RouteResult {
  readonly status: number;
  /** JSON; null if there is no body. */
  readonly body: string | Buffer | null;
  readonly etag?: string;
}

/** A call of a credential. A route that concerns the credential, not a board, gets only this. */
export interface CredentialCall<Query = unknown> {
  readonly credential: Credential;
  /**
   * Already confirmed, except in a route with `confirmsCredential`: there `handle` has to confirm it.
   */
  readonly cachedCredential: CachedCredential;
  readonly query: Query;
}

export interface ReadCall<Params, Query> extends CredentialCall<Query> {
  readonly board: BoardRole;
  readonly params: Params;
}

/** A definition whose schemas have known types. */
export type Definition<Params, Query, Body> = Omit<
  RouteDefinition,
  "method" | "about" | "role" | "params" | "query" | "body"
> & {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
};
export type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
export type MaybeObject = z.ZodObject | undefined;

/** A read that concerns the credential, not a board. */
export function credentialRoute<Query extends MaybeObject = undefined>(
  route: Omit<Definition<undefined, Query, undefined>, "params" | "body"> & {
    readonly handle: (
      deps: Deps,
      call: CredentialCall<Output<Query>>,
      exchange: Exchange,
    ) => Promise<unknown>;
  },
): Route {
  const { handle, ...rest } = route;
  return jsonRoute(
    { ...definitionOf(rest, "get", "viewer"), about: "credential" },
    async (deps, exchange) => {
      const { request, response } = exchange;
      const { limiter } = response.locals;
      const result = await limiter.admit(deps, request, response, async (cached) => {
        exchange.requireNoBody();
        const query = validateQuery(rest.query, exchange.query) as Output<Query>;
        await limiter.schedule.enter(response, cached.credential.id);
        await cached.readAndConfirm(deps.db);
        return handle(deps, { credential: cached.credential, cachedCredential: cached, query }, exchange);
      });
      return resultOf(result);
    },
  );
}

/** A read of a board. */
export function readRoute<Params extends MaybeObject = undefined, Query extends MaybeObject = undefined>(
  route: Definition<Params, Query, undefined> & {
    /**
     * Whether `handle` confirms in its first statement that the cached credential is unchanged, which
     * saves a round trip.
     */
    readonly confirmsCredential?: boolean;
    /** By default viewer. */
    readonly role?: Role | undefined;
    readonly handle: (
      deps: Deps,
      call: ReadCall<Output<Params>, Output<Query>>,
      exchange: Exchange,
    ) => Promise<unknown>;
  },
): Route {
  const { handle, confirmsCredential = false, role = "viewer", ...rest } = route;
  return jsonRoute(definitionOf(rest, "get", role), async (deps, exchange) => {
    const { request, response } = exchange;
    const result = await response.locals.limiter.admit(deps, request, response, async (cached) => {
      const { credential } = cached;
      const board = boardOf(credential, request.get(WORKSPACE_HEADER));
      requireRole(board.role, role);
      exchange.requireNoBody();
      const params = validPathParams(rest.params, exchange) as Output<Params>;
      const query = validateQuery(rest.query, exchange.query) as Output<Query>;
      const scheduled = await schedule(deps, response, board, { leavesReserve: true });
      if (!confirmsCredential) await cached.readAndConfirm(deps.db);
      return handle(scheduled, { credential, cachedCredential: cached, board, params, query }, exchange);
    });
    return resultOf(result);
  });
}

/**
 * A read of a board whose response is long or does not end. `handle` sends it; `authorize` throws if
 * the credential has lost its access since.
 */
export function streamRoute<Query extends MaybeObject = undefined>(
  route: Omit<Definition<undefined, Query, undefined>, "params" | "body"> & {
    /** By default viewer. */
    readonly role?: Role;
    readonly handle: (
      deps: Deps,
      call: { readonly board: BoardRole; readonly query: Output<Query> },
      exchange: Pick<Exchange, "request" | "response">,
      authorize: () => Promise<unknown>,
    ) => Promise<void>;
  },
): Route {
  const { handle, role = "viewer", ...rest } = route;
  return {
    definition: definitionOf(rest, "get", role),
    serve: async (deps, request, response) => {
      const admit = () =>
        response.locals.limiter.admit(deps, request, response, async (cached) => {
          const board = boardOf(cached.credential, request.get(WORKSPACE_HEADER));
          requireRole(board.role, role);
          requireNoBodySent(request);
          const query = validateQuery(rest.query, request.query) as Output<Query>;
          await cached.readAndConfirm(deps.db);
          return { board, query };
        });
      const call = await admit();
      response.locals.limiter.becomeStream(response, call.board.workspaceId);
      await handle(deps, call, { request, response }, admit);
    },
    run: null,
  };
}

/**
 * Waits until a call of `board` may run. It gives up its place before it calls GitHub or a webhook
 * receiver, because that may take minutes and needs no connection.
 */
export async function schedule(
  deps: Deps,
  response: Response,
  { workspaceId }: BoardRole,
  context: Pick<CallContext, "leavesReserve" | "onWrite"> = {},
): Promise<Deps> {
  const { schedule: scheduler } = response.locals.limiter;
  await scheduler.enter(response, workspaceId);
  const leavePlace = (): void => scheduler.leave(response);
  let forge: Forge | undefined;
  return {
    ...deps,
    leavePlace,
    // Made on first use: it takes 5 % of the CPU of a card's read, and most calls do not use it.
    get forge() {
      return (forge ??= deps.forge.with({ ...context, beforeCall: leavePlace }));
    },
  };
}

/** A route whose response is one JSON document. */
export const jsonRoute = (definition: RouteDefinition, run: NonNullable<Route["run"]>): Route => ({
  definition,
  run,
  serve: async (deps, request, response) => {
    const { isVersioned = false } = definition;
    const { status, body, etag } = await run(deps, exchangeOf(request, response));
    response.status(status);
    if (body === null) response.end();
    else sendJson(response, body, isVersioned && status === 200 ? etagOf(body.toString()) : etag);
  },
});

const exchangeOf = (request: Request, response: Response): Exchange => ({
  request,
  response,
  path: request.path,
  params: request.params,
  query: request.query,
  key: request.get(KEY_HEADER),
  claim: request.get(CLAIM_HEADER),
  ifMatch: request.get(MATCH_HEADER),
  readBody: ({ workspaceId }) => response.locals.limiter.readBody(request, response, workspaceId),
  requireNoBody: () => requireNoBodySent(request),
  setHeader: (name, value) => void response.set(name, value),
});

function resultOf(result: unknown): RouteResult {
  if (result instanceof RenderedResponse) return { status: 200, body: result.body, etag: result.etag };
  return { status: 200, body: jsonOf(result) };
}

/** The definition of a route of a board. */
export const definitionOf = (
  route: Definition<MaybeObject, MaybeObject, z.ZodType | undefined>,
  method: RouteDefinition["method"],
  role: Role,
): RouteDefinition => {
  const { params, query, body, ...rest } = route;
  return {
    ...rest,
    method,
    about: "board",
    role,
    ...(params && { params }),
    ...(query && { query }),
    ...(body && { body }),
  };
};

/** Validates the path's parameters. */
export const validPathParams = (schema: MaybeObject, { params }: Pick<Exchange, "params">): unknown =>
  schema && validate(schema, params, "path");
