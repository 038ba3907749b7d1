/** One round of autocannon in a process of its own. Its argument is a `Load`; what it measured is its only output, a `Measured`. */
import { randomUUID } from "node:crypto";
import autocannon from "autocannon";
import { hookSignature } from "./hook.ts";

export interface Load {
  readonly url: string;
  readonly method: "GET" | "POST" | "PATCH";
  /** Paths taken in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Bodies taken in turn with the paths. */
  readonly bodies?: readonly string[];
  /** What is new in each request: an Idempotency-Key, or the id and signature of a delivery; in a replay nothing is. */
  readonly fresh?: "key" | "delivery" | "replay";
  readonly connections: number;
  /** How long, or how many calls. */
  readonly seconds?: number;
  readonly amount?: number;
}

export interface Measured {
  /** Calls answered 2xx or 304, a second. */
  readonly rate: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
let turn = Math.floor(Math.random() * load.paths.length);

const freshHeaders = (body: string | undefined): Record<string, string> => {
  if (load.fresh === "key") return { "idempotency-key": `bench-${randomUUID()}` };
  if (load.fresh === "delivery") {
    return { "x-github-delivery": randomUUID(), "x-hub-signature-256": hookSignature(body ?? "") };
  }
  return {};
};

const result = await autocannon({
  url: load.url,
  connections: load.connections,
  ...(load.seconds !== undefined && { duration: load.seconds }),
  ...(load.amount !== undefined && { amount: load.amount }),
  requests: [
    {
      setupRequest: (request) => {
        const at = turn++ % load.paths.length;
        const body = load.bodies?.[at % load.bodies.length];
        return {
          ...request,
          method: load.method,
          path: load.paths[at] ?? "/",
          headers: {
            ...load.headers,
            ...(body !== undefined && { "content-type": "application/json" }),
            ...freshHeaders(body),
          },
          ...(body !== undefined && { body }),
        };
      },
    },
  ],
});
const answered = result["2xx"] + result["3xx"];
const measured: Measured = {
  rate: answered / result.duration,
  failed: result.non2xx - result["3xx"] + result.errors + result.timeouts,
  p50: result.latency.p50,
  p99: result.latency.p99,
};
console.log(JSON.stringify(measured));
