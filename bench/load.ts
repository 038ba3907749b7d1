/** Sends calls with autocannon. Each input line is a `Load`, each output line its `LoadResult`. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import autocannon from "autocannon";
import { webhookSignature } from "./webhook-signature.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each `{n}` is replaced by a unique number. */
  readonly body?: string;
}

/** Connection k of n sends the calls k, k + n, k + 2n and so on. */
export interface Load {
  readonly url: string;
  readonly calls: readonly Call[];
  /** Each call follows one of these writes on the same connection. Only the calls are timed. */
  readonly writesBefore?: readonly Call[];
  /** What each request adds: a new Idempotency-Key, or a new id and the signature of a delivery. */
  readonly fresh?: "key" | "delivery";
  readonly connections: number;
  /** Either the duration or the number of calls. */
  readonly seconds?: number;
  readonly amount?: number;
  /** Limits the rate. Otherwise each connection sends as soon as the previous call has ended. */
  readonly perSecond?: number;
}

export interface LoadResult {
  /** Calls per second. */
  readonly rate: number;
  /** Calls with a response of 2xx or 304, and all others. */
  readonly answered: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const sent = { count: 0 };

function requestOf({ fresh }: Load, { method, path, headers, body: template }: Call): autocannon.Request {
  const body = template?.replaceAll("{n}", String(sent.count++));
  return {
    method,
    path,
    headers: {
      ...headers,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(fresh === "key" && method !== "GET" && { "idempotency-key": `bench-${randomUUID()}` }),
      ...(fresh === "delivery" && {
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": webhookSignature(body ?? ""),
      }),
    },
    ...(body !== undefined && { body }),
  };
}

async function run(load: Load): Promise<LoadResult> {
  // Autocannon's histogram has only whole milliseconds.
  const times: number[] = [];
  const clients = { count: 0 };
  const options: autocannon.Options = {
    url: load.url,
    connections: load.connections,
    ...(load.seconds !== undefined && { duration: load.seconds }),
    ...(load.amount !== undefined && { amount: load.amount }),
    ...(load.perSecond !== undefined && { overallRate: load.perSecond }),
    setupClient: (client) => {
      const first = clients.count++;
      const inTurn = (calls: readonly Call[]): autocannon.Request => {
        const turn = { next: first };
        return {
          setupRequest: (previous: autocannon.Request) => {
            const call = calls[turn.next % calls.length];
            turn.next += load.connections;
            return call ? { ...previous, ...requestOf(load, call) } : previous;
          },
        };
      };
      const steps = [load.writesBefore, load.calls].filter((calls) => calls !== undefined);
      client.setRequests(steps.map(inTurn));
      const responses = { count: 0 };
      client.on("response", (_status, _bytes, milliseconds) => {
        if (++responses.count % steps.length === 0) times.push(milliseconds);
      });
    },
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    autocannon(options, (error, done) => {
      if (error) reject(error);
      else resolve(done);
    });
  });
  times.sort((a, b) => a - b);
  const quantile = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  const spent = times.reduce((sum, time) => sum + time, 0);
  const answered = result["2xx"] + result["3xx"];
  return {
    rate: load.writesBefore ? (times.length * load.connections * 1_000) / spent : answered / result.duration,
    answered,
    failed: result.non2xx - result["3xx"] + result.errors + result.timeouts,
    p50: quantile(0.5),
    p95: quantile(0.95),
    p99: quantile(0.99),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(line) as Load)));
}
