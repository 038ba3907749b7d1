import type { ApiCall } from "../hooks.ts";
import { graphqlRequest, isGraphql } from "./match.ts";

/** The number of API calls; routes are written as `GET /repos/{owner}/{repo}`. */
interface CallCounts {
  total: number;
  /** All methods but GET and HEAD; in GraphQL, mutations. */
  writes: number;
  readonly routes: Record<string, number>;
  /** By operation name and by top-level field. */
  readonly operations: Record<string, number>;
}

export class CallCounter {
  #counts: CallCounts = { total: 0, writes: 0, routes: {}, operations: {} };

  add(call: ApiCall): void {
    this.#counts.total += 1;
    if (isWrite(call)) this.#counts.writes += 1;
    increase(this.#counts.routes, call.route ?? `${call.method} ${call.path}`);
    for (const name of new Set(graphqlRequest(call).names)) increase(this.#counts.operations, name);
  }

  read(): Readonly<CallCounts> {
    return structuredClone(this.#counts);
  }

  reset(): void {
    this.#counts = { total: 0, writes: 0, routes: {}, operations: {} };
  }
}

/** Whether a call changes data. Creating an access token does not count. */
export function isWrite(call: ApiCall): boolean {
  if (call.method === "GET" || call.method === "HEAD") return false;
  if (call.path.endsWith("/access_tokens")) return false;
  return !isGraphql(call) || graphqlRequest(call).isMutation;
}

function increase(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
