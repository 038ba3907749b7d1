import { rows } from "../../src/store/db/connect.ts";
import type { TestBoard } from "../../test/support/world.ts";
import {
  answerOf,
  cardNumberOf,
  cardsOf,
  mayBeLast,
  type RegisterWrite,
  type Subject,
  type Write,
} from "./subject.ts";

// Invariant: I1
/** A move that succeeded is on the card's timeline, and the card stands where some move that may be the last led. */
export async function lostMoves(
  subject: Subject,
  { workspaceId, stages }: TestBoard,
  writes: readonly Write[],
): Promise<string[]> {
  const found: string[] = [];
  const told = await stagesTold(subject, workspaceId);
  const promotions = writes.filter(({ method, path }) => method === "POST" && path.endsWith("/promote"));
  for (const { number, stageId } of await cardsOf(subject, workspaceId)) {
    // Nobody knows which card came of a request that was never answered.
    const creations = writes.filter(
      ({ path, success }) =>
        path === "/v1/cards" && (success === null || numberIn(answerOf(success)) === number),
    );
    const moves = writes.filter((write) => write.path.endsWith("/move") && cardNumberOf(write) === number);
    const stood = new Set([stages.Backlog, ...(told.get(number) ?? [])]);
    for (const { key, success, sent } of moves) {
      if (success?.status !== 200 || stood.has(String(sent["statusId"]))) continue;
      found.push(`card ${number}: the move ${key} succeeded, and its timeline knows nothing of it`);
    }
    const began = { value: stages.Backlog, start: 0, end: 0, isAcknowledged: true };
    const others = [...creations, ...promotions].map(atAnyTime);
    if (!mayBeLast(stageId, [began, ...others, ...moves.map(asMove)])) {
      found.push(`card ${number} stands in ${stageId}, and an acknowledged move after that is lost`);
    }
  }
  return found;
}

const numberIn = (card: unknown): number => (card as { number: number }).number;

/** The stages that cards entered, by their timelines. */
async function stagesTold({ world }: Subject, workspaceId: string): Promise<Map<number, string[]>> {
  const told = await rows<{ number: number; stages: string[] }>(
    world.deps.db,
    `select c.number, array_agg(t.data->>'to') as stages from timeline_items t join cards c on c.id = t.card_id
      where c.workspace_id = :workspaceId and t.kind = 'status_changed' group by 1`,
    { workspaceId },
  );
  return new Map(told.map(({ number, stages }) => [number, stages]));
}

/** A move the forge finishes later, in its queue, may end at any time. */
const asMove = ({ sent, start, end, success }: Write): RegisterWrite<string> => ({
  value: String(sent["statusId"]),
  start,
  end: success?.status === 202 ? Infinity : end,
  isAcknowledged: success?.status === 200,
});

/** What may or may not have moved this card, some time after it was asked for. */
const atAnyTime = ({ sent, start }: Write): RegisterWrite<string> => ({
  value: String(sent["statusId"]),
  start,
  end: Infinity,
  isAcknowledged: false,
});
