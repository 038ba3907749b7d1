import type { Client } from "../../api/client.ts";
import { ApiProblem, messageOf, NoResponse } from "../../api/problem.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import type { Card } from "../../api/schema.d.ts";
import { effectsBetween, type MoveOutcome, type MoveRequest } from "./move.ts";

/**
 * Makes a move, once: a repetition has the same key. Reads the card first, because this page may not know yet that
 * somebody else has moved it, and the move would undo that. `onMoved` receives the card in that case.
 */
export async function sendMove(
  client: Client,
  request: MoveRequest,
  onMoved: (card: CardSnapshot) => void,
): Promise<MoveOutcome> {
  const { number, from, to, key } = request;
  try {
    const { data: card, feedSeq } = await client.read("GET /v1/cards/{number}", { path: { number } });
    if (card.statusId !== from.statusId) {
      onMoved({ ...card, feedSeq: feedSeq ?? 0 });
      if (card.statusId === to.statusId) return { state: "moved", effects: [] };
      return movedMeanwhile(number, card.statusId);
    }
    const body = { statusId: to.statusId, index: to.index, ...(request.waits && { whenReady: {} }) };
    const { status, data } = await client.write(
      "POST /v1/cards/{number}/move",
      { path: { number }, body },
      key,
    );
    if (status === 202 && data.armed) return { state: "armed", shownIn: from.statusId };
    if (status === 202) return { state: "queued", queued: data.queued ?? [], shownIn: from.statusId };
    return { state: "moved", effects: request.usesGit ? await readEffects(client, card) : [] };
  } catch (error) {
    return outcomeOf(error, from.statusId);
  }
}

/** The response to a move names merges only, so the card is read again. Without a response nothing is known. */
async function readEffects(client: Client, { number, repositories }: Card): Promise<readonly string[]> {
  try {
    const { data } = await client.read("GET /v1/cards/{number}", { path: { number } });
    return effectsBetween(repositories, data.repositories);
  } catch {
    return [];
  }
}

const movedMeanwhile = (number: number, statusId: string): MoveOutcome => ({
  state: "failed",
  message: `Somebody else has moved card ${number} in the meantime, so your move was not made.`,
  canRetry: false,
  shownIn: statusId,
});

/** What an error says about the move. Without a response the outcome is unknown, and the same call finds out. */
export function outcomeOf(error: unknown, shownIn: string): MoveOutcome {
  if (error instanceof ApiProblem && error.body.blocked)
    return { state: "refused", blocked: error.body.blocked, shownIn };
  const canRetry =
    error instanceof NoResponse ||
    (error instanceof ApiProblem && (error.status >= 500 || error.retryAfter !== null));
  return { state: "failed", message: messageOf(error), canRetry, shownIn };
}
