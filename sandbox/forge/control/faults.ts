import { once } from "node:events";
import type { ApiCall, Outcome } from "../hooks.ts";
import type { Answer } from "../server/api-error.ts";
import { garbledResponse, withoutMergeability, type Garble, type RateLimit } from "./answers.ts";
import { isGraphql, matches, type CallMatch, type InstallationOf } from "./match.ts";

/** Whether what was asked for is done before the call goes wrong. */
export type Effect = "before" | "after";

export type Fault =
  /** Nothing: lets a call pass that a later rule would hit. */
  | { readonly kind: "none" }
  /** Answers this instead; with `effect: "after"`, what was asked for has happened all the same. */
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly effect?: Effect;
    }
  /** Cuts the connection without an answer. */
  | { readonly kind: "reset"; readonly effect?: Effect }
  /** Sends no byte and keeps the connection open. */
  | { readonly kind: "hang"; readonly effect?: Effect }
  /** Waits, then goes on to the next fault or the true answer; `effect: "after"` waits once the call has had its effect. */
  | { readonly kind: "delay"; readonly ms: number; readonly effect?: Effect }
  /** Waits as `delay` does, until the rule is removed. */
  | { readonly kind: "gate"; readonly effect?: Effect }
  | Garble
  /** Pull requests whose mergeability is still being worked out. */
  | { readonly kind: "mergeability-unknown" }
  /** Over one of GitHub's limits; meant for a rule with an `installationId`. */
  | ({ readonly kind: "rate-limit" } & RateLimit);

export interface FaultRule {
  readonly match?: CallMatch;
  readonly fault: Fault;
  /** How many matching calls pass unharmed first; 0 when left out. */
  readonly skip?: number;
  /** How many calls are hit before the rule is spent; no end when left out. */
  readonly times?: number;
}

/** A rule that is in force. */
export interface ActiveFault {
  readonly id: number;
  readonly rule: FaultRule;
  /** How many calls it has hit. */
  readonly hits: number;
}

interface CountedRule {
  readonly id: number;
  readonly rule: FaultRule;
  readonly end: AbortController;
  /** Resolves once the rule is no more. */
  readonly removed: Promise<unknown>;
  seen: number;
  hits: number;
}

/** A fault that a call meets. */
export interface MatchedFault {
  readonly fault: Fault;
  /** Resolves once its rule is no more. */
  readonly removed: Promise<unknown>;
}

/** The rules in force; each call is held against them in the order they were added. */
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

  list(): ActiveFault[] {
    return this.#rules.map(({ id, rule, hits }) => ({ id, rule, hits }));
  }

  /** The faults that apply to this call: all delays and gates, then at most one of another kind. Counts each as used. */
  take(call: ApiCall): MatchedFault[] {
    const taken: MatchedFault[] = [];
    for (const each of this.#rules) {
      if (!matches(each.rule.match ?? {}, call, this.#installationOf)) continue;
      if (each.rule.fault.kind === "mergeability-unknown" && !readsPullRequest(call)) continue;
      each.seen += 1;
      if (each.seen <= (each.rule.skip ?? 0) || each.hits >= (each.rule.times ?? Infinity)) continue;
      each.hits += 1;
      taken.push({ fault: each.rule.fault, removed: each.removed });
      if (!isWait(each.rule.fault)) break;
    }
    return taken;
  }
}

const readsPullRequest = (call: ApiCall): boolean =>
  isGraphql(call) ? call.body.includes("merge") : call.method === "GET" && /\/pulls\/\d+$/.test(call.path);

type Wait = Extract<Fault, { kind: "delay" | "gate" }>;
const isWait = (fault: Fault): fault is Wait => fault.kind === "delay" || fault.kind === "gate";

/** Lets faults happen to one call. */
export async function applyFaults(
  met: readonly MatchedFault[],
  proceed: () => Promise<Outcome>,
  refuse: (limit: RateLimit) => Answer,
): Promise<Outcome> {
  const wait = async (isAfter: boolean): Promise<void> => {
    for (const { fault, removed } of met) {
      if (!isWait(fault) || (fault.effect === "after") !== isAfter) continue;
      await (fault.kind === "gate" ? removed : sleep(fault.ms));
    }
  };
  await wait(false);
  const outcome = await applyFault(met.find(({ fault }) => !isWait(fault))?.fault, proceed, refuse);
  await wait(true);
  return outcome;
}

async function applyFault(
  fault: Fault | undefined,
  proceed: () => Promise<Outcome>,
  refuse: (limit: RateLimit) => Answer,
): Promise<Outcome> {
  if (fault === undefined || isWait(fault) || fault.kind === "none") return proceed();
  if (fault.kind === "rate-limit") return refuse(fault);
  if (fault.kind === "garble" || fault.kind === "mergeability-unknown") {
    const answer = await proceed();
    if (typeof answer === "string") return answer;
    return fault.kind === "garble" ? garbledResponse(answer, fault) : withoutMergeability(answer);
  }
  if (fault.effect === "after") await proceed();
  if (fault.kind === "answer") {
    return {
      status: fault.status,
      body: fault.body ?? null,
      ...(fault.headers && { headers: fault.headers }),
    };
  }
  return fault.kind;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
