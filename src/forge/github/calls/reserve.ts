import { LRUCache } from "lru-cache";
import { allowanceIn, type HttpResponse } from "./reported-limits.ts";

/** The part of GitHub's hourly limits that reads of GET routes leave to moves. */
const RESERVED = 0.2;
/**
 * Optional reads of an account in a burst, and per second afterwards. GitHub also limits calls per
 * minute, to 900 of REST (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
const BURST = 200;
const PER_SECOND = 5;
/** People are accounts, too: each token of a person counts as one. */
export const MAX_ACCOUNTS = 10_000;

interface KnownAllowance {
  readonly remaining: number;
  readonly limit: number;
  readonly resetsAt: number;
}

interface KnownAccount {
  readonly core?: KnownAllowance;
  readonly graphql?: KnownAllowance;
  /** When the burst is complete again. */
  readonly recoveredAt?: number;
}

/**
 * Keeps optional reads from using up the limits of an account. Each process counts its own, for
 * the 10,000 accounts that it called last.
 */
export interface Reserve {
  /** Remembers what a response says about the limits. */
  record(account: string, response: Pick<HttpResponse, "headers">): void;
  /** Counts an optional read. Returns 0, or the seconds until one is possible. */
  take(account: string, kind: "rest" | "graphql"): number;
}

/** `clock` is monotonic, in milliseconds. */
export function createReserve(clock: { now(): number }): Reserve {
  const accounts = new LRUCache<string, KnownAccount>({ max: MAX_ACCOUNTS });

  /** The seconds until GitHub counts anew, if only the reserve is left. */
  function reservedFor({ remaining, limit, resetsAt }: KnownAllowance): number {
    return remaining < limit * RESERVED ? Math.max(0, (resetsAt - clock.now()) / 1_000) : 0;
  }

  return {
    record(account, response) {
      const allowance = allowanceIn(response, clock.now());
      if (allowance === null || !isCounted(allowance.resource)) return;
      const { resource, remaining, limit, resetsIn } = allowance;
      const resetsAt = clock.now() + resetsIn * 1_000;
      accounts.set(account, { ...accounts.get(account), [resource]: { remaining, limit, resetsAt } });
    },
    take(account, kind) {
      const known = accounts.get(account) ?? {};
      const reserved = reservedFor(known[kind === "rest" ? "core" : "graphql"] ?? NOTHING_KNOWN);
      if (reserved > 0) return reserved;
      const recoveredAt = Math.max(clock.now(), known.recoveredAt ?? 0) + 1_000 / PER_SECOND;
      const wait = recoveredAt - clock.now() - (BURST * 1_000) / PER_SECOND;
      if (wait > 0) return wait / 1_000;
      accounts.set(account, { ...known, recoveredAt });
      return 0;
    },
  };
}

/** GitHub has further limits, such as `search`, which optional reads do not use up. */
const isCounted = (resource: string): resource is "core" | "graphql" =>
  resource === "core" || resource === "graphql";

const NOTHING_KNOWN: KnownAllowance = { remaining: 1, limit: 1, resetsAt: 0 };
