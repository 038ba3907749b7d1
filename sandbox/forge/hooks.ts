import type { Answer } from "./server/api-error.ts";
import type { AroundDelivery } from "./webhooks/delivery-log.ts";
/**
 * Where a test or the fault control takes hold of the forge: around every API call and around every webhook. All are plain
 * functions given to `startForge`; the forge itself knows no faults.
 */
import type { Express } from "express";
import type { ForgeContext } from "./context.ts";
import type { Caller } from "./server/caller.ts";
import type { Budget } from "./server/rate-limits.ts";

/** An API call as it came in. */
export interface ApiCall {
  /** `X-GitHub-Request-Id` of the answer. */
  readonly id: string;
  readonly method: string;
  /** As asked for, without `/api/v3` and without the query. */
  readonly path: string;
  /** `GET /repos/{owner}/{repo}/pulls/{pull_number}`, `POST /graphql`, or null for an unknown address. */
  readonly route: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as sent. */
  readonly body: Buffer;
}

/** What happens to a call: it is answered, never answered, or its connection is cut. */
export type Outcome = Answer | "hang" | "reset";

/**
 * Wraps every API call. `proceed` does what was asked and answers; not calling it means that nothing happens on the forge,
 * calling it and answering otherwise means that the effect happened all the same. Given another view of the forge, such as
 * an older one, it answers from there.
 */
export type AroundCall = (
  call: ApiCall,
  proceed: (view?: ForgeContext) => Promise<Answer>,
) => Promise<Outcome>;

/** A GraphQL call with its JSON already read. */
export interface GraphqlCall {
  readonly caller: Caller;
  /** What is left of the caller's hour, this call counted. */
  readonly budget: Budget;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | null;
  readonly headers: ApiCall["headers"];
}

/** Answers GraphQL at `/api/graphql` and `/graphql`; authentication, limits and faults are dealt with before. */
export type GraphqlHandler = (forge: ForgeContext, call: GraphqlCall) => Promise<Answer>;

export interface ForgeHooks {
  readonly aroundCall?: AroundCall | undefined;
  readonly aroundDelivery?: AroundDelivery | undefined;
  readonly graphql?: GraphqlHandler | undefined;
  /** Adds routes of its own, before GitHub's. */
  readonly mount?: ((app: Express, forge: ForgeContext) => void) | undefined;
}
