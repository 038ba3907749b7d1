import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem, tooMany } from "../errors.ts";
import type { Db } from "../store/db/connect.ts";
import { StaleCredential, type CachedCredential } from "../store/tenancy/credentials.ts";
import { Authentication, FailedKeys, TokenBuckets } from "./authenticate.ts";

/** What one process takes. Two processes take twice as much. */
export interface CallLimits {
  /** Calls of one credential under way at the same moment. */
  readonly callsAtOnce: number;
  /** Calls of one credential, in the long run and as a burst. */
  readonly callsPerSecond: number;
  /** Keys that are refused, from one address and for one client id. */
  readonly failedKeysPerMinute: number;
}

/** More than one process can answer to one caller on the machines it was measured on: a bound for what runs away, no quota. */
export const DEFAULT_LIMITS: CallLimits = {
  callsAtOnce: 256,
  callsPerSecond: 100_000,
  failedKeysPerMinute: 120,
};

/** Who may call, and how often. */
export class Gate {
  readonly #limits: CallLimits;
  readonly #authentication = new Authentication();
  readonly #calls: TokenBuckets;
  readonly #failures: FailedKeys;
  readonly #underWay = new Map<string, number>();
  readonly #admitted = new WeakMap<Response, string>();

  constructor(limits: CallLimits) {
    this.#limits = limits;
    this.#calls = new TokenBuckets({ burst: limits.callsPerSecond, perSecond: limits.callsPerSecond });
    this.#failures = new FailedKeys(limits.failedKeysPerMinute);
  }

  /**
   * Runs a call's work with the credential it is made with. If the cached credential turns out to be stale, the credential is read
   * again and the work starts over, so `work` must send nothing, and write nothing before it has confirmed the credential. Throws
   * `unauthenticated`, or `too_many` for too many wrong keys and for a credential at its limit. Wrong keys that others send
   * never refuse a valid one.
   */
  async admit<T>(
    { db }: Pick<Deps, "db">,
    request: Request,
    response: Response,
    work: (cached: CachedCredential) => Promise<T>,
  ): Promise<T> {
    const attempt = async (isReread: boolean): Promise<T> => {
      const cached = await this.#authenticate(db, request, isReread);
      return cached.revalidateAfter(db, async () => {
        this.#enter(cached.credential.id, response);
        return work(cached);
      });
    };
    try {
      return await attempt(false);
    } catch (error) {
      if (!(error instanceof StaleCredential)) throw error;
    }
    return attempt(true);
  }

  async #authenticate(db: Db, request: Request, isReread: boolean): Promise<CachedCredential> {
    const authorization = request.get("authorization");
    try {
      return await this.#authentication.authenticate(db, authorization, { isAnew: isReread });
    } catch (error) {
      const isWrong = error instanceof Problem && error.kind === "unauthenticated";
      if (isWrong && authorization !== undefined)
        this.#failures.count(request.socket.remoteAddress ?? "", authorization);
      throw error;
    }
  }

  /** Counts a call once, however often its work is begun. */
  #enter(credentialId: string, response: Response): void {
    if (this.#admitted.has(response)) return;
    const { callsAtOnce, callsPerSecond } = this.#limits;
    const underWay = this.#underWay.get(credentialId) ?? 0;
    if (underWay >= callsAtOnce) {
      throw tooMany(`This credential has ${callsAtOnce} calls under way. Wait for their answers.`, 1);
    }
    const wait = this.#calls.take(credentialId);
    if (wait !== null) {
      throw tooMany(`This credential makes more than ${callsPerSecond} calls a second. Slow down.`, wait);
    }
    this.#underWay.set(credentialId, underWay + 1);
    this.#admitted.set(response, credentialId);
  }

  /** The work of a call is done. Whether its caller was still there for the answer makes no difference. */
  leave(response: Response): void {
    const credentialId = this.#admitted.get(response);
    if (credentialId === undefined) return;
    const left = (this.#underWay.get(credentialId) ?? 1) - 1;
    if (left > 0) this.#underWay.set(credentialId, left);
    else this.#underWay.delete(credentialId);
  }
}
