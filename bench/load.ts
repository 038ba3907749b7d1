/** Loads with autocannon, in a process of its own. Each line it is given is a `Load`; for each it writes one, a `Measured`. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
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
  /** How long, or how many calls, all of which are then answered at the end. */
  readonly seconds?: number;
  readonly amount?: number;
  /** So many calls a second, however fast they are answered; as many as are answered where it is left out. */
  readonly perSecond?: number;
}

export interface Measured {
  /** Calls answered 2xx or 304, a second. */
  readonly rate: number;
  readonly answered: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** The first call of all, which the others repeat: were they made beside it, they would be told that it is under way. */
async function makeFirst({ url, method, paths, headers, bodies }: Load): Promise<void> {
  const { status } = await fetch(`${url}${paths[0]}`, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    body: bodies?.[0] ?? null,
  });
  if (status >= 300) throw new Error(`${method} ${paths[0]}: ${status}`);
}

async function run(load: Load): Promise<Measured> {
  if (load.fresh === "replay") await makeFirst(load);
  let turn = Math.floor(Math.random() * load.paths.length);
  const freshHeaders = (body: string | undefined): Record<string, string> => {
    if (load.fresh === "key") return { "idempotency-key": `bench-${randomUUID()}` };
    if (load.fresh === "delivery") {
      return { "x-github-delivery": randomUUID(), "x-hub-signature-256": hookSignature(body ?? "") };
    }
    return {};
  };
  const options: autocannon.Options = {
    url: load.url,
    connections: load.connections,
    ...(load.seconds !== undefined && { duration: load.seconds }),
    ...(load.amount !== undefined && { amount: load.amount }),
    ...(load.perSecond !== undefined && { overallRate: load.perSecond }),
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
  };
  // Autocannon's own histogram knows whole milliseconds only.
  const times: number[] = [];
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error, done) => {
      if (error) reject(error);
      else resolve(done);
    });
    instance.on("response", (_client, _status, _bytes, milliseconds) => times.push(milliseconds));
  });
  times.sort((a, b) => a - b);
  const quantile = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  const answered = result["2xx"] + result["3xx"];
  return {
    rate: answered / result.duration,
    answered,
    failed: result.non2xx - result["3xx"] + result.errors + result.timeouts,
    p50: quantile(0.5),
    p99: quantile(0.99),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(line) as Load)));
}
