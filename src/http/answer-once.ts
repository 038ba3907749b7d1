import type { Request, Response } from "express";
import type { Answered, Asker, Begun, Caller, KeyedAsker } from "../actions/caller.ts";
import type { Deps } from "../actions/deps.ts";
import { persevere } from "../actions/persevere.ts";
import { busy } from "../errors.ts";
import type { AtOnce } from "../store/at-once.ts";
import type { BoardRole } from "../store/credentials.ts";
import {
  claimKey,
  releaseKey,
  releaseUnheard,
  storeAnswer,
  type Claim,
  type KeyClaim,
} from "../store/idempotency.ts";
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

/** How a write is done: by one statement, where that gives something, else by what is begun together with the key's claim, and else step by step. */
interface Work {
  readonly atOnce: (asker: KeyedAsker) => Promise<AtOnce>;
  readonly begin: (asker: Asker, claim: KeyClaim) => Promise<Begun | null>;
  readonly inSteps: (caller: Caller) => Promise<Answered>;
}

/** Does the work once per key: later requests with the key get the stored answer, and a failed one gives the key back. */
export async function answerOnce(
  deps: Deps,
  response: Response,
  { presumed, board, key, fingerprint }: WriteRequest,
  { atOnce, begin, inSteps }: Work,
): Promise<StoredAnswer> {
  const { credential } = presumed;
  const asker: KeyedAsker = {
    userId: credential.userId,
    credentialId: credential.id,
    workspaceId: board.workspaceId,
    role: board.role,
    requestId: requestIdOf(credential.id, key, fingerprint),
    presumed,
    key,
    fingerprint,
  };
  const done = await atOnce(asker);
  if (done) return answerOf(response, done);
  await presumed.ask(deps.db);
  const wish = { credentialId: credential.id, key, fingerprint, holder: deps.instanceId };
  const { log } = response.locals;
  const releaseIfClaimed = async (error: unknown): Promise<never> => {
    await persevere(log, "an idempotency key", () => releaseUnheard(deps.db, wish));
    throw error;
  };
  const begun = await begin(asker, wish).catch(releaseIfClaimed);
  const claim = begun ?? (await claimKey(deps.db, wish).catch(releaseIfClaimed));
  if ("state" in claim && claim.state !== "claimed") return answerOf(response, claim);
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
    await (begun?.goOn ?? inSteps)(caller);
  } catch (error) {
    await persevere(log, "an idempotency key", () => releaseKey(deps.db, held));
    throw error;
  }
  const answer = answers.at(-1);
  if (!answer) throw new Error("a write that stored no answer");
  return answer;
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
