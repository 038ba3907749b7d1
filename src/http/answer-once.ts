import type { Request, Response } from "express";
import type { Logger } from "pino";
import type { Answered, Begun, Caller, KeyedAsker } from "../actions/caller.ts";
import type { Deps } from "../actions/deps.ts";
import { persevere } from "../actions/persevere.ts";
import { busy } from "../errors.ts";
import type { AtOnce } from "../store/at-once.ts";
import type { BoardRole } from "../store/credentials.ts";
import { claimKey, releaseKey, releaseUnheard, storeAnswer, type Claim } from "../store/idempotency.ts";
import type { Presumption } from "../store/presumption.ts";
import { keyReused, keyRunning, requestIdOf } from "./idempotency.ts";
import { sendJson } from "./send-json.ts";

interface WriteRequest {
  readonly presumed: Presumption;
  readonly board: BoardRole;
  readonly key: string;
  readonly fingerprint: Buffer;
}

interface StoredAnswer {
  readonly status: number;
  /** Null for an answer without a body. */
  readonly body: string | null;
}

/** How a write is done: by one statement, or going on from what one has begun, where that gives something, and else step by step. */
interface Work {
  readonly atOnce: (asker: KeyedAsker) => Promise<AtOnce | Begun>;
  readonly inSteps: (caller: Caller) => Promise<Answered>;
}

/** Does the work once per key: later requests with the key get the stored answer, and a failed one gives the key back. */
export async function answerOnce(
  deps: Deps,
  response: Response,
  { presumed, board, key, fingerprint }: WriteRequest,
  { atOnce, inSteps }: Work,
): Promise<StoredAnswer> {
  const { credential } = presumed;
  const asker: KeyedAsker = {
    userId: credential.userId,
    credentialId: credential.id,
    workspaceId: board.workspaceId,
    role: board.role,
    // Most that are one statement do without.
    get requestId() {
      return requestIdOf(credential.id, key, fingerprint);
    },
    presumed,
    key,
    fingerprint,
  };
  const done = await atOnce(asker);
  if (done && done.state !== "begun") return answerOf(response, done);
  const { log } = response.locals;
  const claim = done ?? (await claimed(deps, asker, log));
  if (claim.state !== "claimed" && claim.state !== "begun") return answerOf(response, claim);
  const { held } = claim;
  const answers: StoredAnswer[] = [];
  const caller: Caller = {
    ...asker,
    answer: async (trx, body, status = 200) => {
      const answer = { status, body: status === 204 ? null : JSON.stringify(body) };
      if (!(await storeAnswer(trx, held, answer))) {
        throw busy("This request was taken over by its own retry. Ask again.", 1);
      }
      answers.push(answer);
      // Only here, and where one statement does both, is the proof made: the answer is in the caller's transaction.
      return {} as Answered;
    },
    answerAtOnce: async (body, keep) => {
      const answer = { status: 200, body: JSON.stringify(body) };
      if (!(await keep(held, answer.body))) return null;
      answers.push(answer);
      return {} as Answered;
    },
  };
  try {
    await (done?.goOn ?? inSteps)(caller);
  } catch (error) {
    await persevere(log, "an idempotency key", () => releaseKey(deps.db, held));
    throw error;
  }
  const answer = answers.at(-1);
  if (!answer) throw new Error("a write that stored no answer");
  return answer;
}

async function claimed(
  { db, instanceId }: Deps,
  { presumed, credentialId, key, fingerprint }: KeyedAsker,
  log: Logger,
): Promise<Claim> {
  await presumed.ask(db);
  const wish = { credentialId, key, fingerprint, holder: instanceId };
  return claimKey(db, wish).catch(async (error: unknown) => {
    await persevere(log, "an idempotency key", () => releaseUnheard(db, wish));
    throw error;
  });
}

function answerOf(
  response: Response,
  found: Exclude<Claim, { state: "claimed" }> | NonNullable<AtOnce>,
): StoredAnswer {
  if (found.state === "other_request") throw keyReused();
  if (found.state === "running") throw keyRunning();
  if (found.state === "replay") response.set("Idempotent-Replay", "true");
  return found;
}

/** Sends what a write has answered, now or when it was first made. */
export function sendStored(request: Request, response: Response, { status, body }: StoredAnswer): void {
  response.statusCode = status;
  if (body === null) response.end();
  else sendJson(request, response, body);
}
