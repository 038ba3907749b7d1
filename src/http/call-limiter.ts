import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem, tooMany } from "../errors.ts";
import { POOL_SIZE, type Db } from "../store/db/connect.ts";
import type { LimitReached } from "../metrics/metrics.ts";
import { findCredential, StaleCredential, type CachedCredential } from "../store/tenancy/credentials.ts";
import { Authentication, FailedKeys, senderOf, TokenBuckets } from "./authenticate.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { HeldBodies } from "./held-bodies.ts";
import { readBody } from "./json.ts";
import { LastUses } from "./last-uses.ts";

/** The limits of one process. Two processes allow twice as much. */
export interface CallLimits {
  /** Concurrent calls of one credential, running and waiting. */
  readonly callsAtOnce: number;
  /** Open event streams of one credential, with its calls that wait for events. */
  readonly streamsAtOnce: number;
  /** Those of one board. A stream keeps a connection. */
  readonly boardStreamsAtOnce: number;
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
  streamsAtOnce: 64,
  boardStreamsAtOnce: 512,
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

const MIB = 1024 * 1024;
/** The bodies of calls. A body is at most 1 MiB. */
const BODY_BYTES = 64 * MIB;
const BOARD_BODY_BYTES = 8 * MIB;

/** How often a call runs while its credential changes. */
const MAX_ATTEMPTS = 5;

/** Authenticates calls, limits their rate, and schedules them. */
export class CallLimiter {
  readonly schedule: CallScheduler;
  /**
   * Reads on behalf of callers who are not known yet, two at a time. Networks take turns; nobody who
   * still waits is refused, because a caller with a valid key may be among them.
   */
  readonly lookups = new CallScheduler({ running: 2, boardRunning: 2, boardWaiting: Infinity });
  readonly #limits: CallLimits;
  readonly #authentication = new Authentication();
  readonly #lastUses = new LastUses();
  readonly #calls: TokenBuckets;
  readonly #failures: FailedKeys;
  readonly #storedBytes: TokenBuckets;
  readonly #bodies: HeldBodies;
  readonly #onLimit: (limit: LimitReached) => void;
  readonly #running = new Counts();
  readonly #streams = new Counts();
  readonly #admitted = new WeakMap<Response, Admitted>();

  constructor(limits: CallLimits, onLimit: (limit: LimitReached) => void) {
    this.#limits = limits;
    this.#onLimit = onLimit;
    this.#bodies = new HeldBodies({
      bytes: BODY_BYTES,
      holderBytes: BOARD_BODY_BYTES,
      onEnd: () => onLimit("call_bodies"),
    });
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
      const find = (clientId: string) => findCredential(db, clientId);
      // A credential that is read again was valid a moment ago.
      const isGone = (): boolean => request.socket.destroyed;
      const lookUp = (clientId: string) => this.lookups.run(senderOf(request), () => find(clientId), isGone);
      return await this.#authentication.authenticate(isReread ? find : lookUp, authMethod, key, { isReread });
    } catch (error) {
      const isRefused = error instanceof Problem && error.kind === "unauthenticated";
      if (isRefused && key !== undefined) this.#failures.count(senderOf(request), key);
      throw error;
    }
  }

  /** Counts a call once, even if its work restarts. */
  #enter(credentialId: string, response: Response): void {
    if (this.#admitted.has(response)) return;
    const { callsAtOnce, callsPerSecond } = this.#limits;
    if (this.#running.of(credentialId) >= callsAtOnce) {
      throw tooMany(`You have ${callsAtOnce} calls in progress. Wait for their responses.`, 1);
    }
    const wait = this.#calls.take(credentialId);
    if (wait !== null) {
      throw tooMany(`You make more than ${callsPerSecond} calls per second. Slow down.`, wait);
    }
    const counted = [this.#running.add(credentialId)];
    this.#admitted.set(response, { credentialId, counted, isStream: false });
  }

  /**
   * From now on the call counts as an event stream, not as a call in progress. May be called again.
   * Throws `too_many` if the credential or the board has too many streams.
   */
  becomeStream(response: Response, workspaceId: string): void {
    const admitted = this.#admitted.get(response);
    if (!admitted || admitted.isStream) return;
    const { streamsAtOnce, boardStreamsAtOnce } = this.#limits;
    const { credentialId, counted } = admitted;
    if (this.#streams.of(credentialId) >= streamsAtOnce) {
      throw tooMany(`You have ${streamsAtOnce} open event streams and waiting polls. End one of them.`, 5);
    }
    if (this.#streams.of(workspaceId) >= boardStreamsAtOnce) {
      this.#onLimit("board_streams");
      throw tooMany(
        `This board has ${boardStreamsAtOnce} open event streams and waiting polls. End some of them.`,
        5,
      );
    }
    admitted.isStream = true;
    for (const end of counted.splice(0)) end();
    counted.push(this.#streams.add(credentialId), this.#streams.add(workspaceId));
  }

  /** Reads the JSON body of an admitted call. Its bytes count for the board until `leave`. */
  readBody(request: Request, response: Response, workspaceId: string): Promise<unknown> {
    const held = this.#bodies.hold(request, response, workspaceId);
    this.#admitted.get(response)?.counted.push(held.release);
    return Promise.race([readBody(request, response), held.ended]);
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
    for (const end of this.#admitted.get(response)?.counted.splice(0) ?? []) end();
  }
}

/** An admitted call. */
interface Admitted {
  readonly credentialId: string;
  /** Each ends one of its counts. */
  readonly counted: (() => void)[];
  isStream: boolean;
}

/** How many there are of each name. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Counts one, and returns what ends it. */
  add(name: string): () => void {
    this.#counts.set(name, this.of(name) + 1);
    return () => {
      const left = this.of(name) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }
}
