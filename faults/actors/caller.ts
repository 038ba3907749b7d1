import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import type { ServiceProcess } from "../world/service-process.ts";

/** The result of a request after all its attempts. */
export interface Outcome {
  /** Null without a final response: it is unknown whether the request took effect. */
  readonly status: number | null;
  readonly body: unknown;
}

export interface Caller {
  readonly actor: string;
  /** The owner of the credential's board. */
  readonly owner: string;
  get(path: string): Promise<Outcome>;
  /** Sends a write, with the same key and to any process, until it has a final response. */
  write(method: string, path: string, body?: unknown, claim?: ClaimToken): Promise<Outcome>;
}

/** The claim under which a write is made. */
export interface ClaimToken {
  readonly claimId: string;
  readonly generation: number;
}

interface CallerOptions {
  readonly actor: string;
  readonly owner: string;
  readonly apiKey: string;
  readonly processes: readonly Pick<ServiceProcess, "name" | "baseUrl">[];
  readonly random: SeededRandom;
  readonly history: Pick<History, "call">;
  /** Unix time in milliseconds after which nothing is retried. */
  readonly retryUntil: () => number;
  /** Follows the retry rules for every request; others abandon some. */
  readonly isPatient?: boolean;
}

/** Longer than any call may take. Some attempts time out earlier. */
const TIMEOUT_MS = 40_000;

export function makeCaller(options: CallerOptions): Caller {
  const { actor, owner, random, retryUntil } = options;
  let writes = 0;
  const sendOnce = makeSender(options);
  return {
    actor,
    owner,
    get: async (path: string) => {
      const { status, text } = await sendOnce({
        method: "GET",
        path,
        sent: null,
        key: null,
        claim: null,
        attempt: 1,
      });
      return { status, body: parsed(text) };
    },
    write: async (method: string, path: string, sent?: unknown, held?: ClaimToken) => {
      writes += 1;
      const key = `${actor}.${writes}`.padEnd(24, ".");
      const claim = held ? `${held.claimId}.${held.generation}` : null;
      const request = { method, path, sent: sent ?? null, key, claim };
      const isAbandoned = random.chance(0.04) && options.isPatient !== true;
      for (let attempt = 1; ; attempt++) {
        const result = await sendOnce({ ...request, attempt });
        if (isFinal(result)) {
          // Some callers repeat a request that got a response.
          if (result.status !== null && result.status < 300 && random.chance(0.15)) {
            await sendOnce({ ...request, attempt: attempt + 1 });
          }
          return { status: result.status, body: parsed(result.text) };
        }
        if (isAbandoned || Date.now() > retryUntil()) return { status: null, body: {} };
        await sleep(random.between(50, 600));
      }
    },
  };
}

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly key: string | null;
  readonly claim: string | null;
  readonly attempt: number;
}

interface Result {
  readonly status: number | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

const makeSender =
  ({ actor, owner, apiKey, processes, random, history }: CallerOptions) =>
  async ({ method, path, sent, key, claim, attempt }: Attempt): Promise<Result> => {
    const process = random.pick(processes);
    if (!process) throw new Error("There is no process to call.");
    const timeout = random.chance(0.1) ? random.between(50, 3_000) : TIMEOUT_MS;
    const start = Date.now();
    const requestId = randomUUID();
    let result: Result & { isReplay: boolean };
    try {
      const response = await fetch(`${process.baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          "user-agent": requestId,
          ...(key !== null && { "idempotency-key": key }),
          ...(claim !== null && { "x-claim": claim }),
          ...(sent !== null && { "content-type": "application/json" }),
        },
        ...(sent !== null && { body: JSON.stringify(sent) }),
        signal: AbortSignal.timeout(timeout),
      });
      result = {
        status: response.status,
        retryAfter: response.headers.get("retry-after"),
        isReplay: response.headers.get("idempotent-replay") === "true",
        text: await response.text(),
      };
    } catch (error) {
      result = { status: null, retryAfter: null, isReplay: false, text: String(error) };
    }
    const end = Date.now();
    history.call({
      actor,
      owner,
      clientId: clientIdOf(apiKey),
      requestId,
      method,
      path,
      sent,
      key,
      claim,
      attempt,
      process: process.name,
      start,
      end,
      ...result,
    });
    return result;
  };

/** The public half of an API key. */
export const clientIdOf = (apiKey: string): string => apiKey.split("_")[1] ?? "";

/** Whether a response is final. A 5xx, a 429 and a 409 with `Retry-After` are to be retried. */
export const isFinal = ({ status, retryAfter }: Pick<Result, "status" | "retryAfter">): boolean =>
  status !== null && status < 500 && status !== 429 && !(status === 409 && retryAfter !== null);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
