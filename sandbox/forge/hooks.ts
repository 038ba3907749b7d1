import type { Express } from "express";
import type { ForgeContext } from "./context.ts";
import type { ForgeResponse } from "./server/api-error.ts";
import type { Caller } from "./server/caller.ts";
import type { Budget } from "./server/rate-limits.ts";
import type { AroundDelivery } from "./webhooks/delivery-log.ts";

export interface ApiCall {
  /** `X-GitHub-Request-Id` of the response. */
  readonly id: string;
  readonly method: string;
  /** Without `/api/v3` and the query. */
  readonly path: string;
  /** Such as `GET /repos/{owner}/{repo}` or `POST /graphql`; null for an unknown path. */
  readonly route: string | null;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The response to a call, no response, or a reset connection. */
export type Outcome = ForgeResponse | "hang" | "reset";

/**
 * Wraps every API call. `proceed` runs the call and returns its response; `proceed(view)` runs
 * it on another state of the forge, such as a snapshot. The result may differ from what `proceed` returned.
 */
export type AroundCall = (
  call: ApiCall,
  proceed: (view?: ForgeContext) => Promise<ForgeResponse>,
) => Promise<Outcome>;

/** A GraphQL call with parsed JSON. */
export interface GraphqlCall {
  readonly caller: Caller;
  /** The caller's rate limit after this call. */
  readonly budget: Budget;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | null;
}

/** Handles GraphQL after authentication, rate limits and faults. */
export type GraphqlHandler = (forge: ForgeContext, call: GraphqlCall) => Promise<ForgeResponse>;

/** Functions that run around every API call and webhook, such as faults. */
export interface ForgeHooks {
  readonly aroundCall?: AroundCall | undefined;
  readonly aroundDelivery?: AroundDelivery | undefined;
  readonly graphql?: GraphqlHandler | undefined;
  /** Adds routes before GitHub's. */
  readonly mount?: ((app: Express, forge: ForgeContext) => void) | undefined;
}
