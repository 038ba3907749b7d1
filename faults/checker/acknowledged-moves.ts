import { rows } from "../../src/store/db/connect.ts";
import type { TestBoard } from "../../test/support/world.ts";
import {
  responseOf,
  cardNumberOf,
  cardsOf,
  mayBeLast,
  type RegisterWrite,
  type Subject,
  type Write,
} from "./subject.ts";

// Invariant: I1
/**
 * A successful move is on the card's timeline, and the card is in the stage of a move that may be
 * the last one.
 */
export async function lostMoves(
  subject: Subject,
  { workspaceId, stages }: TestBoard,
  writes: readonly Write[],
): Promise<string[]> {
  const found: string[] = [];
  const entered = await stagesEntered(subject, workspaceId);
  const promotions = writes.filter(({ method, path }) => method === "POST" && path.endsWith("/promote"));
  for (const { number, stageId } of await cardsOf(subject, workspaceId)) {
    // A request without a response may have created any card.
    const creations = writes.filter(
      ({ path, success }) =>
        path === "/v1/cards" && (success === null || numberIn(responseOf(success)) === number),
    );
    const moves = writes.filter((write) => write.path.endsWith("/move") && cardNumberOf(write) === number);
    const seen = new Set([stages.Backlog, ...(entered.get(number) ?? [])]);
    for (const { key, success, sent } of moves) {
      if (success?.status !== 200 || seen.has(String(sent["statusId"]))) continue;
      found.push(`card ${number}: the move ${key} succeeded but is not on the timeline`);
    }
    const initial = { value: stages.Backlog, start: 0, end: 0, isAcknowledged: true };
    const others = [...creations, ...promotions].map(atAnyTime);
    if (!mayBeLast(stageId, [initial, ...others, ...moves.map(asMove)])) {
      found.push(`card ${number} is in the stage ${stageId}, but a later acknowledged move is lost`);
    }
  }
  return found;
}

const numberIn = (card: unknown): number => (card as { number: number }).number;

/** The stages that each card entered according to its timeline. */
async function stagesEntered({ world }: Subject, workspaceId: string): Promise<Map<number, string[]>> {
  const moves = await rows<{ number: number; stages: string[] }>(
    world.deps.db,
    `select c.number, array_agg(t.data->>'to') as stages from timeline_items t join cards c on c.id = t.card_id
      where c.workspace_id = :workspaceId and t.kind = 'status_changed' group by 1`,
    { workspaceId },
  );
  return new Map(moves.map(({ number, stages }) => [number, stages]));
}

/** A move that waits in the merge queue may end at any time. */
const asMove = ({ sent, start, end, success }: Write): RegisterWrite<string> => ({
  value: String(sent["statusId"]),
  start,
  end: success?.status === 202 ? Infinity : end,
  isAcknowledged: success?.status === 200,
});

/** A write that may have moved the card at any time after it was sent. */
const atAnyTime = ({ sent, start }: Write): RegisterWrite<string> => ({
  value: String(sent["statusId"]),
  start,
  end: Infinity,
  isAcknowledged: false,
});
