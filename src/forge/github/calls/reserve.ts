import { allowanceIn, type HttpResponse } from "./reported-limits.ts";

/** The part of GitHub's hourly limits that reads of GET routes leave to moves. */
const RESERVED = 0.2;
/**
 * Optional reads of an account in a burst, and per second afterwards. GitHub also limits calls per
 * minute, to 900 of REST (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).
 */
const BURST = 200;
const PER_SECOND = 5;

interface Known {
  readonly remaining: number;
  readonly limit: number;
  readonly resetsAt: number;
}

/** Keeps optional reads from using up the limits of an account. Each process counts its own. */
export interface Reserve {
  /** Remembers what a response says about the limits. */
  record(account: string, response: Pick<HttpResponse, "headers">): void;
  /** Counts an optional read. Returns 0, or the seconds until one is possible. */
  take(account: string, kind: "rest" | "graphql"): number;
}

/** `clock` is monotonic, in milliseconds. */
export function createReserve(clock: { now(): number }): Reserve {
  const known = new Map<string, Known>();
  /** When the burst of an account is complete again. */
  const recoveredAt = new Map<string, number>();

  /** The seconds until GitHub counts anew, if only the reserve is left. */
  function reservedFor(account: string, resource: string): number {
    const { remaining, limit, resetsAt } = known.get(`${account} ${resource}`) ?? NOTHING_KNOWN;
    return remaining < limit * RESERVED ? Math.max(0, (resetsAt - clock.now()) / 1_000) : 0;
  }

  return {
    record(account, response) {
      const allowance = allowanceIn(response, clock.now());
      if (allowance === null) return;
      const { resource, remaining, limit, resetsIn } = allowance;
      known.set(`${account} ${resource}`, { remaining, limit, resetsAt: clock.now() + resetsIn * 1_000 });
    },
    take(account, kind) {
      const reserved = reservedFor(account, kind === "rest" ? "core" : "graphql");
      if (reserved > 0) return reserved;
      const recovered = Math.max(clock.now(), recoveredAt.get(account) ?? 0) + 1_000 / PER_SECOND;
      const wait = recovered - clock.now() - (BURST * 1_000) / PER_SECOND;
      if (wait > 0) return wait / 1_000;
      recoveredAt.set(account, recovered);
      return 0;
    },
  };
}

const NOTHING_KNOWN: Known = { remaining: 1, limit: 1, resetsAt: 0 };
