import type { Request, Response } from "express";
import type { z } from "zod";
import type { Answered, Begun, Caller, KeyedAsker } from "../actions/caller.ts";
import type { Deps } from "../actions/deps.ts";
import type { Role } from "../flow/roles.ts";
import type { AtOnce } from "../store/at-once.ts";
import type { BoardRole, Credential } from "../store/credentials.ts";
import type { Presumption } from "../store/presumption.ts";
import { ReadyAnswer } from "../store/ready-boards.ts";
import { answerOnce, sendStored } from "./answer-once.ts";
import { boardOf, requireRole, requireWriteScope, WORKSPACE_HEADER } from "./board-of.ts";
import { fingerprintOf, idempotencyKeyOf, KEY_HEADER } from "./idempotency.ts";
import { readBody, requireNoBody, requireNoBodySent } from "./read-body.ts";
import { JsonText, sendJson } from "./send-json.ts";
import { validate } from "./validate.ts";

/** What a route says of itself; the OpenAPI document is made of these. */
export interface RouteDefinition {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With parameters in braces: `/v1/cards/{number}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** `account` routes are about the credential, not about a board. */
  readonly about: "account" | "board";
  readonly role: Role;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly responses: Readonly<Record<number, RouteResponse>>;
}

export interface RouteResponse {
  readonly description: string;
  /** Null for an answer without a body. */
  readonly schema: z.ZodType | null;
  readonly headers?: z.ZodObject;
}

export interface Route {
  readonly definition: RouteDefinition;
  readonly serve: (deps: Deps, request: Request, response: Response) => Promise<void>;
}

/** A call about the credential itself. */
export interface AccountCall<Query = unknown> {
  readonly credential: Credential;
  /** To be settled by a route that says it `asks`; for any other it is. */
  readonly presumed: Presumption;
  readonly query: Query;
}

export interface ReadCall<Params, Query> extends AccountCall<Query> {
  readonly board: BoardRole;
  readonly params: Params;
}

/** What the call came in and goes out by, for headers; the body is what `handle` gives. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

export interface WriteCall<Params, Query, Body, Subject> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** What `find` found. */
  readonly subject: Subject;
}

/** A call whose work may be one statement. */
export interface AtOnceCall<Params, Body> {
  readonly asker: KeyedAsker;
  readonly params: Params;
  readonly body: Body;
}

type Definition<Params, Query, Body> = Omit<
  RouteDefinition,
  "method" | "about" | "role" | "params" | "query" | "body"
> & {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
};
export type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
export type MaybeObject = z.ZodObject | undefined;

/** A read about the credential: no board is named. */
export function accountRoute<Query extends MaybeObject = undefined>(
  route: Omit<Definition<undefined, Query, undefined>, "params" | "body"> & {
    readonly handle: (deps: Deps, call: AccountCall<Output<Query>>, exchange: Exchange) => Promise<unknown>;
  },
): Route {
  const { handle, ...rest } = route;
  return {
    definition: { ...defined(rest, "get", "viewer"), about: "account" },
    serve: async (deps, request, response) => {
      const answer = await response.locals.gate.admit(deps, request, response, async (presumed) => {
        requireNoBodySent(request);
        const query = checked(rest.query, request.query, "query") as Output<Query>;
        await presumed.ask(deps.db);
        return handle(deps, { credential: presumed.credential, presumed, query }, { request, response });
      });
      sendRead(request, response, answer);
    },
  };
}

/** A read of a board. */
export function readRoute<Params extends MaybeObject = undefined, Query extends MaybeObject = undefined>(
  route: Definition<Params, Query, undefined> & {
    /** Whether `handle` settles the credential by its own first statement, which spares one. */
    readonly asks?: boolean;
    readonly handle: (
      deps: Deps,
      call: ReadCall<Output<Params>, Output<Query>>,
      exchange: Exchange,
    ) => Promise<unknown>;
  },
): Route {
  const { handle, asks = false, ...rest } = route;
  return {
    definition: defined(rest, "get", "viewer"),
    serve: async (deps, request, response) => {
      const answer = await response.locals.gate.admit(deps, request, response, async (presumed) => {
        const { credential } = presumed;
        const board = boardOf(credential, request.get(WORKSPACE_HEADER));
        requireNoBodySent(request);
        const params = checked(rest.params, request.params, "path") as Output<Params>;
        const query = checked(rest.query, request.query, "query") as Output<Query>;
        if (!asks) await presumed.ask(deps.db);
        return handle(deps, { credential, presumed, board, params, query }, { request, response });
      });
      sendRead(request, response, answer);
    },
  };
}

function sendRead(request: Request, response: Response, answer: unknown): void {
  if (answer instanceof ReadyAnswer) sendJson(request, response, answer.body, answer.etag);
  else sendJson(request, response, answer instanceof JsonText ? answer.text : JSON.stringify(answer));
}

/**
 * A write on a board. The checks come in the order every caller can rely on: key, board, scope, idempotency key, role, replay, the
 * subject (404), the body (400), and then whatever the action finds.
 */
export function writeRoute<
  Params extends MaybeObject = undefined,
  Query extends MaybeObject = undefined,
  Body extends z.ZodType | undefined = undefined,
  Subject = undefined,
>(
  route: Definition<Params, Query, Body> & {
    readonly method: Exclude<RouteDefinition["method"], "get">;
    readonly role: Role;
    /**
     * Does the work in one statement with all that surrounds it, or begins it so, or gives null and has done nothing: then it is done step by step, and what is wrong
     * with the call is told in its order.
     */
    readonly atOnce?: (deps: Deps, call: AtOnceCall<Output<Params>, Output<Body>>) => Promise<AtOnce | Begun>;
    /** Finds what the call is about, or throws `not_found`. */
    readonly find?: (deps: Deps, board: BoardRole, params: Output<Params>) => Promise<Subject>;
    readonly handle: (
      deps: Deps,
      call: WriteCall<Output<Params>, Output<Query>, Output<Body>, Subject>,
    ) => Promise<Answered>;
  },
): Route {
  const { handle, find, atOnce: doAtOnce, method, role, ...rest } = route;
  const definition = defined(rest, method, role);
  return {
    definition,
    serve: async (deps, request, response) => {
      let sent: Promise<unknown> | undefined;
      const answer = await response.locals.gate.admit(deps, request, response, async (presumed) => {
        const { credential } = presumed;
        const board = boardOf(credential, request.get(WORKSPACE_HEADER));
        requireWriteScope(credential);
        const key = idempotencyKeyOf(request.get(KEY_HEADER));
        requireRole(board.role, role);
        const params = checked(rest.params, request.params, "path") as Output<Params>;
        const query = checked(rest.query, request.query, "query") as Output<Query>;
        // Once, however often the work is begun: one that is too large cannot be read to its end again.
        const input = await (sent ??= readBody(request, response));
        const fingerprint = fingerprintOf({
          method,
          route: rest.path,
          params: request.params,
          query: request.query,
          workspaceId: board.workspaceId,
          body: input,
        });
        const body = input === undefined ? {} : input;
        const atOnce = async (asker: KeyedAsker): Promise<AtOnce | Begun> => {
          const given = doAtOnce && rest.body?.safeParse(body);
          if (!given?.success) return null;
          return doAtOnce?.(deps, { asker, params, body: given.data as Output<Body> }) ?? null;
        };
        const inSteps = async (caller: Caller): Promise<Answered> => {
          const subject = (await find?.(deps, board, params)) as Subject;
          if (!rest.body) requireNoBody(input);
          const given = (rest.body ? validate(rest.body, body, "body") : undefined) as Output<Body>;
          return handle(deps, { caller, params, query, body: given, subject });
        };
        return answerOnce(deps, response, { presumed, board, key, fingerprint }, { atOnce, inSteps });
      });
      sendStored(request, response, answer);
    },
  };
}

const defined = (
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

const checked = (schema: MaybeObject, input: unknown, where: "path" | "query"): unknown =>
  schema && validate(schema, input, where);
