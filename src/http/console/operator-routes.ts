import type { z } from "zod";
import type { Deps } from "../../actions/deps.ts";
import { forbidden } from "../../errors.ts";
import type { Trx } from "../../store/db/connect.ts";
import { forAttempt, transaction } from "../../store/db/transaction.ts";
import type { Credential } from "../../store/tenancy/credentials.ts";
import { audited } from "../attempts.ts";
import {
  credentialRoute,
  jsonRoute,
  validPathParams,
  type Exchange,
  type MaybeObject,
  type Output,
  type Route,
} from "../route.ts";

/** Refuses people who are not operators, whatever their roles on boards. No API key is one. */
function requireOperator({ isOperator }: Credential): void {
  if (isOperator) return;
  throw forbidden("This needs the rights of an operator: `trunkline operator add` gives them.");
}

interface OperatorRoute {
  readonly path: string;
  readonly summary: string;
  readonly result: z.ZodType;
}

const responsesOf = ({ result }: OperatorRoute) => ({ 200: { description: "Done", schema: result } });

/** A read for operators. It concerns no board. */
export function operatorRead(
  route: OperatorRoute & { readonly handle: (deps: Deps, exchange: Exchange) => Promise<unknown> },
): Route {
  const { path, summary, handle } = route;
  return credentialRoute({
    path,
    summary,
    tag: "Operations",
    responses: responsesOf(route),
    handle: (deps, { credential }, exchange) => {
      requireOperator(credential);
      return handle(deps, exchange);
    },
  });
}

/**
 * A write for operators, in one transaction with its row of the audit log. It needs no idempotency
 * key, because repeating it has no further effect.
 */
export function operatorWrite<Params extends MaybeObject = undefined>(
  route: OperatorRoute & {
    readonly params?: Params;
    readonly handle: (trx: Trx, params: Output<Params>) => Promise<unknown>;
  },
): Route {
  const { path, summary, params: schema, handle } = route;
  const run = audited({ method: "post", path }, async (deps, exchange: Exchange, attempt) => {
    const { request, response } = exchange;
    const { limiter, authMethod } = response.locals;
    return limiter.admit(deps, request, response, async (cached) => {
      const { credential } = cached;
      Object.assign(attempt, { userId: credential.userId, credentialId: credential.id });
      authMethod.requireOwnPage(request);
      requireOperator(credential);
      const params = validPathParams(schema, exchange) as Output<Params>;
      exchange.requireNoBody();
      await limiter.schedule.enter(response, credential.id);
      const result = await transaction(forAttempt(deps.db, attempt.id), async (trx) => {
        await cached.lock(trx);
        const done = await handle(trx, params);
        await attempt.end(trx, { status: 200, problem: null });
        return done;
      });
      return { status: 200, body: JSON.stringify(result) };
    });
  });
  return jsonRoute(
    {
      method: "post",
      path,
      summary,
      tag: "Operations",
      about: "credential",
      role: "viewer",
      responses: responsesOf(route),
      ...(schema && { params: schema }),
    },
    run,
  );
}
