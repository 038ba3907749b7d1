import { isWrite } from "../../src/sandbox/forge/control/call-counts.ts";
import type { ApiCall, Answer } from "../../src/sandbox/forge/hooks.ts";
import type { RunningForge } from "../../src/sandbox/forge/start-forge.ts";

/** One call of an installation, as the forge saw it. */
export interface ForgeCall {
  readonly installationId: number;
  readonly at: number;
  readonly isWrite: boolean;
  readonly isGraphql: boolean;
  readonly route: string;
}

/** The forge told an installation to wait. */
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
      calls.push({
        installationId,
        at: Date.now(),
        isWrite: isWrite(call),
        isGraphql,
        route: call.route ?? `${call.method} ${call.path}`,
      });
    },
    onAnswer: (call, answer) => {
      if (call.path.endsWith("/access_tokens")) addToken(tokens, answer);
      const installationId = installationOf(call);
      const seconds = installationId === null ? 0 : waitIn(answer);
      if (installationId === null || seconds <= 0) return;
      const from = Date.now();
      const isPrimary = answer.headers?.["x-ratelimit-remaining"] === "0";
      const own = call.route === "POST /graphql" ? "graphql" : "rest";
      holds.push({ installationId, from, until: from + seconds * 1_000, budget: isPrimary ? own : null });
    },
  });
  return { calls, holds, tokens };
}

function addToken(tokens: Set<string>, { body }: Answer): void {
  const token = typeof body === "object" && body !== null && "token" in body ? body.token : undefined;
  if (typeof token === "string") tokens.add(token);
}

/** How many seconds an answer asks its caller to wait; 0 where it does not. */
function waitIn({ status, headers = {}, body }: Answer): number {
  const isLimit =
    /rate limit/i.test(JSON.stringify(body ?? "")) && (status === 403 || status === 429 || status === 200);
  if (!isLimit) return 0;
  if (headers["retry-after"] !== undefined) return Number(headers["retry-after"]);
  const reset = Number(headers["x-ratelimit-reset"]);
  return headers["x-ratelimit-remaining"] === "0" ? Math.max(0, reset - Math.floor(Date.now() / 1_000)) : 0;
}
