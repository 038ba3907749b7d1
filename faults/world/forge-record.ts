import { isWrite } from "../../sandbox/forge/control/call-counts.ts";
import type { ApiCall } from "../../sandbox/forge/hooks.ts";
import type { ForgeResponse } from "../../sandbox/forge/server/api-error.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import { effectOf, type ForgeEffect } from "./forge-effects.ts";

/** One call of an installation. */
export interface ForgeCall {
  readonly installationId: number;
  /** When the forge read it. */
  readonly receivedAt: number;
  /** When the service sent it. */
  readonly sentAt: number;
  readonly isWrite: boolean;
  readonly route: string;
}

/** How long a limit lasts if GitHub states no time. */
const UNSTATED_MS = 60_000;
/** A process that is killed sooner after a response may not have stored the limit. */
const STORE_LIMIT_MS = 1_000;

/** A time in which an installation must not call, by a limit that a process received. */
interface ForgeHold {
  readonly installationId: number;
  readonly from: number;
  readonly until: number;
}

/** The calls that the forge received and the limits that it imposed. */
export interface ForgeRecord {
  readonly calls: readonly ForgeCall[];
  readonly limits: readonly ForgeHold[];
  readonly effects: readonly ForgeEffect[];
  /** Ends all limits now. */
  endLimits(): void;
  /** Every installation token it issued. */
  readonly tokens: ReadonlySet<string>;
}

export function recordForge({ control, context }: RunningForge): ForgeRecord {
  const calls: ForgeCall[] = [];
  const holds: ForgeHold[] = [];
  const effects: ForgeEffect[] = [];
  const tokens = new Set<string>();
  const installationOf = ({ headers }: ApiCall): number | null => {
    const given = String(headers["authorization"] ?? "").replace(/^\w+\s+/, "");
    return context.state.tokens.inGroup(given)[0]?.installationId ?? null;
  };
  control.observe({
    onCall: (call) => {
      const installationId = installationOf(call);
      if (installationId === null) return;
      const at = Date.now();
      const sentAt = Number(call.headers["x-sent-at"] ?? at);
      const route = call.route ?? `${call.method} ${call.path}`;
      calls.push({ installationId, receivedAt: at, sentAt, isWrite: isWrite(call), route });
      const effect = effectOf(call);
      if (effect) effects.push({ ...effect, sentAt, route });
    },
    onResponse: (call, response) => {
      if (call.path.endsWith("/access_tokens")) addToken(tokens, response);
      const installationId = installationOf(call);
      const from = Date.now();
      const until = limitEnd(response, from);
      if (installationId === null || until <= from) return;
      const hold = { installationId, from, until };
      const sender = call.headers["x-sent-by"];
      setTimeout(() => {
        if (isRunning(sender)) holds.push(hold);
      }, STORE_LIMIT_MS).unref();
    },
  });
  let endedAt = Infinity;
  return {
    calls,
    get limits() {
      return holds.map((hold) => ({
        ...hold,
        until: hold.from < endedAt ? Math.min(hold.until, endedAt) : hold.until,
      }));
    },
    effects,
    endLimits: () => void (endedAt = Date.now()),
    tokens,
  };
}

function addToken(tokens: Set<string>, { body }: ForgeResponse): void {
  const token = typeof body === "object" && body !== null && "token" in body ? body.token : undefined;
  if (typeof token === "string") tokens.add(token);
}

/** Whether a process runs. A call without a process id counts as from a running one. */
function isRunning(pid: unknown): boolean {
  try {
    return pid === undefined || process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** When the limit in a response ends, as Unix time in milliseconds; 0 without a limit. */
function limitEnd({ status, headers = {}, body }: ForgeResponse, now: number): number {
  const isLimit = /rate limit/i.test(JSON.stringify(body ?? "")) && [200, 403, 429].includes(status);
  if (!isLimit) return 0;
  const stated = headers["retry-after"] === undefined ? null : now + Number(headers["retry-after"]) * 1_000;
  const isPrimary = headers["x-ratelimit-remaining"] === "0";
  const reset = isPrimary ? Number(headers["x-ratelimit-reset"]) * 1_000 : 0;
  return Math.max(stated ?? (isPrimary ? 0 : now + UNSTATED_MS), reset);
}
