import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { ServiceProcess } from "../world/service-process.ts";

/** What became of a request, after all its attempts. */
export interface Outcome {
  /** Null where no attempt was answered for good: nobody knows whether it was done. */
  readonly status: number | null;
  readonly body: unknown;
}

export interface Caller {
  readonly actor: string;
  /** Whose board the credential is for. */
  readonly owner: string;
  get(path: string): Promise<Outcome>;
  /** A write, repeated under the same key until it has an answer that stands, at either process. */
  write(method: string, path: string, body?: unknown): Promise<Outcome>;
}

interface CallerOptions {
  readonly actor: string;
  readonly owner: string;
  readonly apiKey: string;
  readonly processes: readonly ServiceProcess[];
  readonly dice: Dice;
  readonly history: Pick<History, "call">;
  /** Past this moment (milliseconds since 1970) nothing is tried again. */
  readonly giveUpAt: () => number;
}

/** Patience of one attempt: most wait longer than any call may take, some hang up early. */
const LONG_MS = 40_000;

export function makeCaller(options: CallerOptions): Caller {
  const { actor, owner, dice, giveUpAt } = options;
  let writes = 0;
  const askOnce = attempts(options);
  return {
    actor,
    owner,
    get: async (path: string) => {
      const { status, text } = await askOnce({ method: "GET", path, sent: null, key: null, attempt: 1 });
      return { status, body: parsed(text) };
    },
    write: async (method: string, path: string, sent?: unknown) => {
      writes += 1;
      const key = `${actor}.${writes}`.padEnd(24, ".");
      const gone = dice.chance(0.04);
      for (let attempt = 1; ; attempt++) {
        const answer = await askOnce({ method, path, sent: sent ?? null, key, attempt });
        if (isFinal(answer)) {
          // Now and then the answer is lost on its way, or asked for again for no reason.
          if (answer.status !== null && answer.status < 300 && dice.chance(0.15)) {
            await askOnce({ method, path, sent: sent ?? null, key, attempt: attempt + 1 });
          }
          return { status: answer.status, body: parsed(answer.text) };
        }
        // A caller that never comes back.
        if (gone || Date.now() > giveUpAt()) return { status: null, body: {} };
        await sleep(dice.between(50, 600));
      }
    },
  };
}

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly key: string | null;
  readonly attempt: number;
}

interface Answer {
  readonly status: number | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

const attempts =
  ({ actor, owner, apiKey, processes, dice, history }: CallerOptions) =>
  async ({ method, path, sent, key, attempt }: Attempt): Promise<Answer> => {
    const process = dice.pick(processes);
    if (!process) throw new Error("there is no process to call");
    const patience = dice.chance(0.1) ? dice.between(50, 3_000) : LONG_MS;
    const start = Date.now();
    let answer: Answer & { isReplay: boolean };
    try {
      const response = await fetch(`${process.baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(key !== null && { "idempotency-key": key }),
          ...(sent !== null && { "content-type": "application/json" }),
        },
        ...(sent !== null && { body: JSON.stringify(sent) }),
        signal: AbortSignal.timeout(patience),
      });
      answer = {
        status: response.status,
        retryAfter: response.headers.get("retry-after"),
        isReplay: response.headers.get("idempotent-replay") === "true",
        text: await response.text(),
      };
    } catch (error) {
      answer = { status: null, retryAfter: null, isReplay: false, text: String(error) };
    }
    const end = Date.now();
    history.call({
      actor,
      owner,
      method,
      path,
      sent,
      key,
      attempt,
      process: process.name,
      start,
      end,
      ...answer,
    });
    return answer;
  };

/** Whether an answer stands: not an outage, and not somebody else at it, which say when to come back. */
export const isFinal = ({ status, retryAfter }: Pick<Answer, "status" | "retryAfter">): boolean =>
  status !== null && status < 500 && status !== 429 && !(status === 409 && retryAfter !== null);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
