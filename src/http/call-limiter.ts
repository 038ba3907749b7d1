import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem, tooMany } from "../errors.ts";
import { POOL_SIZE, type Db } from "../store/db/connect.ts";
import { StaleCredential, type CachedCredential } from "../store/tenancy/credentials.ts";
import { Authentication, FailedKeys, TokenBuckets } from "./authenticate.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { LastUses } from "./last-uses.ts";

/** The limits of one process. Two processes allow twice as much. */
export interface CallLimits {
  /** Concurrent calls of one credential, running and waiting. */
  readonly callsAtOnce: number;
  /** Calls of one credential per second, also the size of a burst. */
  readonly callsPerSecond: number;
  /** Running calls of one board. Further ones wait. */
  readonly boardCallsAtOnce: number;
  /** Waiting calls of one board. */
  readonly boardCallsWaiting: number;
  /** Refused keys per address and per client id. */
  readonly failedKeysPerMinute: number;
  /** The responses of a credential's writes, which are stored for a day, in units of 1,000,000 bytes. */
  readonly storedMegabytesPerDay: number;
}

/** More than a busy automation needs, and less than one process handles. */
export const DEFAULT_LIMITS: CallLimits = {
  callsAtOnce: 64,
  callsPerSecond: 500,
  boardCallsAtOnce: 4,
  boardCallsWaiting: 256,
  failedKeysPerMinute: 120,
  storedMegabytesPerDay: 2_048,
};

/** The space of a stored response besides its body: the key, the digest and both indexes. */
const STORED_ROW_BYTES = 500;

/** Running calls of all boards. The other connections of the pool serve webhooks, jobs and checks. */
const RUNNING_CALLS = POOL_SIZE - 2;

/** How often a call runs while its credential changes. */
const MAX_ATTEMPTS = 5;

/** Authenticates calls, limits their rate, and schedules them. */
export class CallLimiter {
  readonly schedule: CallScheduler;
  readonly #limits: CallLimits;
  readonly #authentication = new Authentication();
  readonly #lastUses = new LastUses();
  readonly #calls: TokenBuckets;
  readonly #failures: FailedKeys;
  readonly #storedBytes: TokenBuckets;
  readonly #running = new Map<string, number>();
  readonly #admitted = new WeakMap<Response, string>();

  constructor(limits: CallLimits) {
    this.#limits = limits;
    this.schedule = new CallScheduler({
      running: RUNNING_CALLS,
      boardRunning: limits.boardCallsAtOnce,
      boardWaiting: limits.boardCallsWaiting,
    });
    this.#calls = new TokenBuckets({ burst: limits.callsPerSecond, perSecond: limits.callsPerSecond });
    this.#failures = new FailedKeys(limits.failedKeysPerMinute);
    const bytesPerDay = limits.storedMegabytesPerDay * 1_000_000;
    this.#storedBytes = new TokenBuckets({ burst: bytesPerDay, perSecond: bytesPerDay / 86_400 });
  }

  /**
   * Runs `work` with the credential of the request. If the cached credential is stale, `work` runs
   * again with the current one. Therefore `work` must not send a response, and must confirm the
   * credential before it writes. Throws `unauthenticated`, or `too_many` for too many invalid keys and
   * for a credential at its limit. Invalid keys that others send never block a valid key.
   */
  async admit<T>(
    { db }: Pick<Deps, "db">,
    request: Request,
    response: Response,
    work: (cached: CachedCredential) => Promise<T>,
  ): Promise<T> {
    const { authMethod } = response.locals;
    const attempt = async (isReread: boolean): Promise<T> => {
      const cached = await this.#authenticate(db, request, response, isReread);
      response.locals.clientId = cached.credential.clientId;
      // Only the first admission of a request counts as activity. A stream is admitted repeatedly,
      // even if the person is away.
      if (
        !isReread &&
        !this.#admitted.has(response) &&
        (await authMethod.recordActivity(db, cached.credential))
      )
        throw new StaleCredential();
      const result = await cached.readAndConfirmAfter(db, async () => {
        this.#enter(cached.credential.id, response);
        return work(cached);
      });
      await this.#lastUses.record(db, cached.credential.userId, response.locals.log);
      return result;
    };
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt(attempts > 1);
      } catch (error) {
        if (!(error instanceof StaleCredential) || attempts === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #authenticate(
    db: Db,
    request: Request,
    { locals: { authMethod } }: Response,
    isReread: boolean,
  ): Promise<CachedCredential> {
    const key = authMethod.presented(request);
    try {
      return await this.#authentication.authenticate(db, authMethod, key, { isReread });
    } catch (error) {
      const isRefused = error instanceof Problem && error.kind === "unauthenticated";
      if (isRefused && key !== undefined) this.#failures.count(request.socket.remoteAddress ?? "", key);
      throw error;
    }
  }

  /** Counts a call once, even if its work restarts. */
  #enter(credentialId: string, response: Response): void {
    if (this.#admitted.has(response)) return;
    const { callsAtOnce, callsPerSecond } = this.#limits;
    const running = this.#running.get(credentialId) ?? 0;
    if (running >= callsAtOnce) {
      throw tooMany(`You have ${callsAtOnce} calls in progress. Wait for their responses.`, 1);
    }
    const wait = this.#calls.take(credentialId);
    if (wait !== null) {
      throw tooMany(`You make more than ${callsPerSecond} calls per second. Slow down.`, wait);
    }
    this.#running.set(credentialId, running + 1);
    this.#admitted.set(response, credentialId);
  }

  /**
   * Throws `too_many` for a write of a credential whose stored responses take too much space. A
   * response is never deleted before its day is over, because a retry would then write again.
   */
  requireSpace(credentialId: string): void {
    const wait = this.#storedBytes.wait(credentialId);
    if (wait === null) return;
    const limit = this.#limits.storedMegabytesPerDay;
    throw tooMany(
      `The responses to your writes are stored for retries and exceed ${limit} MB per day. Slow down.`,
      wait,
    );
  }

  countStored(credentialId: string, body: string | null): void {
    this.#storedBytes.spend(credentialId, STORED_ROW_BYTES + Buffer.byteLength(body ?? ""));
  }

  /** Ends the count of a call, also when its caller has disconnected. */
  leave(response: Response): void {
    this.schedule.leave(response);
    const credentialId = this.#admitted.get(response);
    if (credentialId === undefined) return;
    const left = (this.#running.get(credentialId) ?? 1) - 1;
    if (left > 0) this.#running.set(credentialId, left);
    else this.#running.delete(credentialId);
  }
}
