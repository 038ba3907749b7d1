import { once } from "node:events";
import type { ApiCall, Outcome } from "../hooks.ts";
import type { ForgeResponse } from "../server/api-error.ts";
import type { RateLimit } from "./rate-limit.ts";
import {
  garbledResponse,
  graphqlErrorResponse,
  queryLimitResponse,
  withoutMergeability,
  type Garble,
  type GraphqlError,
  type QueryLimit,
} from "./responses.ts";
import { graphqlRequest, isGraphql, matches, type CallMatch, type InstallationOf } from "./match.ts";

const QUERY_ENDS_AFTER_MS = 10_000;

/** Whether the fault occurs before or after the call is run. */
type Effect = "before" | "after";

export type Fault =
  /** No fault; exempts a call from later rules. */
  | { readonly kind: "none" }
  /** Replaces the response; with `effect: "after"`, the call is run all the same. */
  | {
      readonly kind: "response";
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly effect?: Effect;
    }
  /** Resets the connection without a response. */
  | { readonly kind: "reset"; readonly effect?: Effect }
  /** Sends nothing and keeps the connection open. */
  | { readonly kind: "hang"; readonly effect?: Effect }
  /** Waits, then continues with the next fault; `effect: "after"` waits after the call is run. */
  | { readonly kind: "delay"; readonly ms: number; readonly effect?: Effect }
  /** Waits like `delay`, until the rule is removed. */
  | { readonly kind: "hold"; readonly effect?: Effect }
  | GraphqlError
  | Garble
  | QueryLimit
  /** Makes the mergeability of pull requests unknown. */
  | { readonly kind: "mergeability-unknown" }
  /** Exceeds one of GitHub's limits. The installation of the call is limited until its time. */
  | ({ readonly kind: "rate-limit" } & RateLimit);

export interface FaultRule {
  readonly match?: CallMatch;
  readonly fault: Fault;
  /** Matching calls that pass first; default 0. */
  readonly skip?: number;
  /** Calls the fault applies to; default unlimited. */
  readonly times?: number;
}

interface CountedRule {
  readonly id: number;
  readonly rule: FaultRule;
  readonly end: AbortController;
  /** Resolves when the rule is removed. */
  readonly removed: Promise<unknown>;
  /** Matching calls. */
  seen: number;
  /** Calls the fault applied to. */
  hits: number;
}

interface MatchedFault extends Pick<CountedRule, "removed"> {
  readonly fault: Fault;
}

/** The active rules, applied to each call in the order they were added. */
export class Faults {
  #rules: CountedRule[] = [];
  #lastId = 0;
  readonly #installationOf: InstallationOf;

  constructor(installationOf: InstallationOf) {
    this.#installationOf = installationOf;
  }

  add(rule: FaultRule): number {
    this.#lastId += 1;
    const end = new AbortController();
    this.#rules.push({ id: this.#lastId, rule, end, removed: once(end.signal, "abort"), seen: 0, hits: 0 });
    return this.#lastId;
  }

  remove(id: number): boolean {
    const found = this.#rules.find((each) => each.id === id);
    this.#rules = this.#rules.filter((each) => each !== found);
    found?.end.abort();
    return found !== undefined;
  }

  clear(): void {
    for (const { id } of this.#rules) this.remove(id);
  }

  list(): Pick<CountedRule, "id" | "rule" | "hits">[] {
    return this.#rules.map(({ id, rule, hits }) => ({ id, rule, hits }));
  }

  /** The faults of a call, counted as used: all delays and holds, then at most one other. */
  take(call: ApiCall): MatchedFault[] {
    const taken: MatchedFault[] = [];
    for (const each of this.#rules) {
      if (!matches(each.rule.match ?? {}, call, this.#installationOf)) continue;
      if (!concerns(each.rule.fault, call)) continue;
      each.seen += 1;
      if (each.seen <= (each.rule.skip ?? 0) || each.hits >= (each.rule.times ?? Infinity)) continue;
      each.hits += 1;
      taken.push({ fault: each.rule.fault, removed: each.removed });
      if (!isWait(each.rule.fault)) break;
    }
    return taken;
  }
}

function concerns(fault: Fault, call: ApiCall): boolean {
  if (fault.kind === "mergeability-unknown") return readsPullRequest(call);
  if (fault.kind !== "query-limit") return true;
  const { isMutation, size } = graphqlRequest(call);
  return !isMutation && size > fault.largest;
}

const readsPullRequest = (call: ApiCall): boolean =>
  isGraphql(call) ? call.body.includes("merge") : call.method === "GET" && /\/pulls\/\d+$/.test(call.path);

type Wait = Extract<Fault, { kind: "delay" | "hold" }>;
const isWait = (fault: Fault): fault is Wait => fault.kind === "delay" || fault.kind === "hold";

export async function applyFaults(
  matched: readonly MatchedFault[],
  proceed: () => Promise<Outcome>,
  refuse: (limit: RateLimit) => ForgeResponse,
): Promise<Outcome> {
  const wait = async (isAfter: boolean): Promise<void> => {
    for (const { fault, removed } of matched) {
      if (!isWait(fault) || (fault.effect === "after") !== isAfter) continue;
      await (fault.kind === "hold" ? removed : sleep(fault.ms));
    }
  };
  await wait(false);
  const outcome = await applyFault(matched.find(({ fault }) => !isWait(fault))?.fault, proceed, refuse);
  await wait(true);
  return outcome;
}

async function applyFault(
  fault: Fault | undefined,
  proceed: () => Promise<Outcome>,
  refuse: (limit: RateLimit) => ForgeResponse,
): Promise<Outcome> {
  if (fault === undefined || isWait(fault) || fault.kind === "none") return proceed();
  if (fault.kind === "rate-limit") return refuse(fault);
  if (fault.kind === "graphql-error") return graphqlErrorResponse(fault);
  if (fault.kind === "query-limit") {
    if (fault.as === "bad-gateway") await sleep(QUERY_ENDS_AFTER_MS);
    return queryLimitResponse(fault);
  }
  if (fault.kind === "garble" || fault.kind === "mergeability-unknown") {
    const response = await proceed();
    if (typeof response === "string") return response;
    return fault.kind === "garble" ? garbledResponse(response, fault) : withoutMergeability(response);
  }
  if (fault.effect === "after") await proceed();
  if (fault.kind !== "response") return fault.kind;
  const { status, body = null, headers } = fault;
  return { status, body, ...(headers && { headers }) };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
