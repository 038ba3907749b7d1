import type { Metrics } from "./metrics.ts";

/** One HTTP request to the forge, once it has ended. */
export interface ForgeRequest {
  /** The installation's id, `app` or `nobody`. */
  readonly account: string;
  /** A template, without the values in it. */
  readonly route: string;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly seconds: number;
}

/** Counts what the forge is asked, and remembers what it says of its budgets. */
export const observeForge =
  (metrics: Metrics) =>
  ({ account, route, status, headers, seconds }: ForgeRequest): void => {
    metrics.forgeSeconds.observe({ route, result: String(status ?? "no_answer") }, seconds);
    const remaining = numberIn(headers.get("x-ratelimit-remaining"));
    const resetAt = numberIn(headers.get("x-ratelimit-reset"));
    if (remaining === null || resetAt === null || !/^\d+$/.test(account)) return;
    const resource = headers.get("x-ratelimit-resource") ?? "core";
    metrics.budgets.heard({ installation: account, resource, remaining, resetAt });
  };

function numberIn(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}
