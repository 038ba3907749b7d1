import { isWrite } from "../../sandbox/forge/control/call-counts.ts";
import type { ApiCall } from "../../sandbox/forge/hooks.ts";
import type { Answer } from "../../sandbox/forge/server/api-error.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";

/** One call of an installation, as the forge saw it. */
export interface ForgeCall {
  readonly installationId: number;
  /** When the forge came to look at it. */
  readonly at: number;
  /** When it left the service's hands. */
  readonly sentAt: number;
  readonly isWrite: boolean;
  readonly isGraphql: boolean;
  readonly route: string;
}

/** So long after an answer its asker has to be there, in milliseconds: one that was killed sooner may have told nobody of it. */
const TO_TELL_MS = 1_000;

/** The forge told an installation to wait, and a process that was there to hear it and tell the others. */
export interface ForgeHold {
  readonly installationId: number;
  readonly from: number;
  readonly until: number;
  /** Null: no calls at all. */
  readonly budget: "rest" | "graphql" | null;
}

/** The forge's own record of what it was asked, and what it asked for. */
export interface ForgeRecord {
  readonly calls: readonly ForgeCall[];
  readonly holds: readonly ForgeHold[];
  /** Every token it handed out. */
  readonly tokens: ReadonlySet<string>;
}

export function recordForge({ control, context }: RunningForge): ForgeRecord {
  const calls: ForgeCall[] = [];
  const holds: ForgeHold[] = [];
  const tokens = new Set<string>();
  const installationOf = ({ headers }: ApiCall): number | null => {
    const given = String(headers["authorization"] ?? "").replace(/^\w+\s+/, "");
    return context.state.tokens.in(given)[0]?.installationId ?? null;
  };
  control.observe({
    onCall: (call) => {
      const installationId = installationOf(call);
      if (installationId === null) return;
      const isGraphql = call.route === "POST /graphql";
      const at = Date.now();
      calls.push({
        installationId,
        at,
        sentAt: Number(call.headers["x-sent-at"] ?? at),
        isWrite: isWrite(call),
        isGraphql,
        route: call.route ?? `${call.method} ${call.path}`,
      });
    },
    onAnswer: (call, answer) => {
      if (call.path.endsWith("/access_tokens")) addToken(tokens, answer);
      const installationId = installationOf(call);
      const from = Date.now();
      const until = waitIn(answer, from);
      if (installationId === null || until <= from) return;
      const isPrimary = answer.headers?.["x-ratelimit-remaining"] === "0";
      const own = call.route === "POST /graphql" ? "graphql" : "rest";
      const hold = { installationId, from, until, budget: isPrimary ? own : null } as const;
      const asker = call.headers["x-sent-by"];
      setTimeout(() => {
        if (isThere(asker)) holds.push(hold);
      }, TO_TELL_MS).unref();
    },
  });
  return { calls, holds, tokens };
}

function addToken(tokens: Set<string>, { body }: Answer): void {
  const token = typeof body === "object" && body !== null && "token" in body ? body.token : undefined;
  if (typeof token === "string") tokens.add(token);
}

/** Whether a process is there; those that do not say who they are, are taken to be. */
function isThere(pid: unknown): boolean {
  try {
    return pid === undefined || process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** Until when an answer asks its caller to wait; 0 where it does not. */
function waitIn({ status, headers = {}, body }: Answer, now: number): number {
  const isLimit = /rate limit/i.test(JSON.stringify(body ?? "")) && [200, 403, 429].includes(status);
  if (!isLimit) return 0;
  if (headers["retry-after"] !== undefined) return now + Number(headers["retry-after"]) * 1_000;
  return headers["x-ratelimit-remaining"] === "0" ? Number(headers["x-ratelimit-reset"]) * 1_000 : 0;
}
