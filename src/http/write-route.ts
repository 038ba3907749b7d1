import type { z } from "zod";
import { requireClaim } from "../actions/claims/claims.ts";
import type { Deps } from "../actions/deps.ts";
import { ResponseSeal } from "../actions/sealed-text.ts";
import { startWrite, type Write } from "../actions/write.ts";
import type { Role } from "../flow/roles.ts";
import type { Db } from "../store/db/connect.ts";
import { allInOrder } from "../store/db/transaction.ts";
import type { StoredResponse } from "../store/ops/idempotency.ts";
import type { BoardRole } from "../store/tenancy/credentials.ts";
import { claimTokenOf, isAboutCard } from "./claim-header.ts";
import { requireMatch } from "./etag.ts";
import {
  fingerprintOf,
  idempotencyKeyOf,
  keyReused,
  keyRunning,
  REPLAY_HEADER,
  requestIdOf,
} from "./idempotency.ts";
import { audited } from "./attempts.ts";
import { requireNoBody } from "./json.ts";
import { boardOf, requireRole, requireWriteScope, WORKSPACE_HEADER } from "./resolve.ts";
import {
  jsonRoute,
  definitionOf,
  validPathParams,
  schedule,
  type Definition,
  type Exchange,
  type MaybeObject,
  type Output,
  type Route,
  type RouteDefinition,
} from "./route.ts";
import { validate, validateQuery } from "./validate.ts";

interface WriteCall<Params, Query, Body, Subject> {
  readonly write: Write;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The result of `find`. */
  readonly subject: Subject;
  /** Throws `stale` if `If-Match` names another version than that of `current`. */
  readonly requireMatch: (current: object) => void;
}

/**
 * A write on a board, run once per idempotency key. The order of the checks is part of the
 * contract: API key, board, scope, idempotency key, role, path, query and claim (400), a body that is
 * not JSON, replay, subject (404), lost claim (409), stored responses (429), schema of the body (400),
 * action.
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
    /** Whether the response has a secret. Its stored copy is encrypted. */
    readonly hasSecret?: boolean;
    /** Finds the resource in the path, or throws `not_found`. */
    readonly find?: (db: Db, board: BoardRole, params: Output<Params>) => Promise<Subject>;
    readonly handle: (
      deps: Deps,
      call: WriteCall<Output<Params>, Output<Query>, Output<Body>, Subject>,
    ) => Promise<StoredResponse>;
  },
): Route {
  const { handle, find, method, role, hasSecret = false, ...rest } = route;
  const run = audited({ method, path: rest.path }, async (deps, exchange: Exchange, attempt) => {
    let reading: Promise<unknown> | undefined;
    const { request, response } = exchange;
    const { limiter, log, authMethod } = response.locals;
    return limiter.admit(deps, request, response, async (cached) => {
      const { credential } = cached;
      const { id: credentialId, userId, isHuman } = credential;
      Object.assign(attempt, { userId, credentialId });
      authMethod.requireOwnPage(request);
      const board = boardOf(credential, request.get(WORKSPACE_HEADER));
      const { workspaceId, role: held } = board;
      attempt.workspaceId = workspaceId;
      requireWriteScope(credential);
      const key = idempotencyKeyOf(exchange.key);
      requireRole(board.role, role);
      const params = validPathParams(rest.params, exchange) as Output<Params>;
      const query = validateQuery(rest.query, exchange.query) as Output<Query>;
      const claim = isAboutCard(rest.path) ? claimTokenOf(exchange.claim) : null;
      // A body can be read only once, and this function may restart.
      const input = await (reading ??= exchange.readBody(board));
      const fingerprint = fingerprintOf({
        method,
        route: rest.path,
        params: exchange.params,
        query: exchange.query,
        workspaceId,
        body: input,
      });
      const requestId = requestIdOf(credentialId, key, fingerprint);
      const caller = { userId, credentialId, workspaceId, role: held, isHuman, requestId };
      const scheduled = await schedule(attempt.instrument(deps), response, board, attempt.forgeContext);
      const seal = hasSecret
        ? new ResponseSeal(authMethod.presented(request)?.secret ?? "", requestId)
        : null;
      const call = { caller, cached, key, fingerprint, attempt, seal };
      const start = await startWrite(scheduled, log, call, async (trx) => {
        const finding = find?.(trx, board, params);
        const write = { workspaceId, credentialId, ...(params as { readonly number: number }) };
        const [found] = await allInOrder([finding, claim && requireClaim(trx, write, claim)]);
        return found as Subject;
      });
      switch (start.state) {
        case "other_request":
          throw keyReused();
        case "running":
          throw keyRunning();
        case "replay":
          await attempt.end(deps.db, { status: start.response.status, problem: null, isReplay: true });
          exchange.setHeader(REPLAY_HEADER, "true");
          if (seal) return seal.open(start.response);
          return start.response;
        case "reserved":
      }
      const { write, subject } = start;
      try {
        limiter.requireSpace(credentialId);
        if (!rest.body) requireNoBody(input);
        const body = (
          rest.body ? validate(rest.body, input === undefined ? {} : input, "body") : undefined
        ) as Output<Body>;
        const stored = await handle(scheduled, {
          write,
          params,
          query,
          body,
          subject,
          requireMatch: (current) => requireMatch(exchange.ifMatch, current),
        });
        limiter.countStored(credentialId, stored.body);
        return stored;
      } catch (error) {
        await write.abandon();
        throw error;
      }
    });
  });
  return jsonRoute(definitionOf(rest, method, role), run);
}
