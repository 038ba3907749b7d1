import type { ApiCall } from "../hooks.ts";
import { remainingLimit, secondsOf, type RateLimit } from "./rate-limit.ts";

/** A limit of one installation. Times are in milliseconds since 1970. */
export interface ImposedLimit {
  readonly installationId: number;
  readonly from: number;
  /** The stated time, or a minute. */
  readonly until: number;
  readonly limit: RateLimit;
  /**
   * The calls that arrived during the limit. It may include calls that were sent before the limit's
   * response arrived.
   */
  readonly violations: { readonly route: string; readonly at: number }[];
}

/** The limits since the last reset. Each lasts until its time, for all calls of the installation. */
export class LimitedInstallations {
  readonly #imposed: ImposedLimit[] = [];

  impose(installationId: number, limit: RateLimit): void {
    const from = Date.now();
    const until = from + secondsOf(limit) * 1_000;
    this.#imposed.push({ installationId, from, until, limit, violations: [] });
  }

  /** The rest of the limit that a call violates, and records the call; null without a limit. */
  violatedBy(call: ApiCall, installationId: number): RateLimit | null {
    const at = Date.now();
    const found = this.#imposed.findLast((each) => each.installationId === installationId && at < each.until);
    if (found === undefined) return null;
    found.violations.push({ route: call.route ?? `${call.method} ${call.path}`, at });
    return remainingLimit(found.limit, at - found.from);
  }

  list(): readonly ImposedLimit[] {
    return this.#imposed;
  }

  /** Ends all limits and forgets them. */
  clear(): void {
    this.#imposed.length = 0;
  }
}
