import type { ApiCall } from "../hooks.ts";
import { graphqlRequest, isGraphql } from "./match.ts";

/** How often the forge was called, by route (`PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge`) and GraphQL operation. */
export interface CallCounts {
  readonly total: number;
  /** Calls that are not reads: everything but GET and HEAD, and of GraphQL the mutations. */
  readonly writes: number;
  readonly routes: Readonly<Record<string, number>>;
  /** By operation name and by field at the top of an operation. */
  readonly operations: Readonly<Record<string, number>>;
}

export class CallCounter {
  #counts = {
    total: 0,
    writes: 0,
    routes: {} as Record<string, number>,
    operations: {} as Record<string, number>,
  };

  add(call: ApiCall): void {
    this.#counts.total += 1;
    if (isWrite(call)) this.#counts.writes += 1;
    increase(this.#counts.routes, call.route ?? `${call.method} ${call.path}`);
    for (const name of new Set(graphqlRequest(call).names)) increase(this.#counts.operations, name);
  }

  read(): CallCounts {
    return structuredClone(this.#counts);
  }

  reset(): void {
    this.#counts = { total: 0, writes: 0, routes: {}, operations: {} };
  }
}

/** Whether a call changes something on the forge. Minting a token does not. */
export function isWrite(call: ApiCall): boolean {
  if (call.method === "GET" || call.method === "HEAD") return false;
  if (call.path.endsWith("/access_tokens")) return false;
  return !isGraphql(call) || graphqlRequest(call).isMutation;
}

function increase(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
