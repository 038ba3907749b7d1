import type { Request, Response } from "express";
import type { Deps } from "../actions/deps.ts";
import { Problem, tooMany } from "../errors.ts";
import type { Db } from "../store/connect.ts";
import { Outdated, type Presumption } from "../store/presumption.ts";
import { Authentication } from "./authenticate.ts";
import { FailedKeys } from "./failed-keys.ts";
import { TokenBuckets } from "./token-buckets.ts";

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
   * Does a call's work as the credential it is made with, and gives what came of it. Where the credential turns out to be another than was remembered the work is done again, so
   * it must send nothing, and write nothing before it has asked. Throws `unauthenticated`, or `too_many` for one wrong key too many and for a credential
   * that is at its limit. A valid key is never refused for the wrong ones others sent.
   */
  async admit<T>(
    { db }: Pick<Deps, "db">,
    request: Request,
    response: Response,
    work: (presumed: Presumption) => Promise<T>,
  ): Promise<T> {
    const attempt = async (isAnew: boolean): Promise<T> => {
      const presumed = await this.#authenticate(db, request, isAnew);
      return presumed.during(db, async () => {
        this.#enter(presumed.credential.id, response);
        return work(presumed);
      });
    };
    try {
      return await attempt(false);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
    return attempt(true);
  }

  async #authenticate(db: Db, request: Request, isAnew: boolean): Promise<Presumption> {
    const authorization = request.get("authorization");
    try {
      return await this.#authentication.authenticate(db, authorization, { isAnew });
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
