import { unlessUndone } from "./at-once.ts";
import { placeInColumn, type CardMove } from "./card-moves.ts";
import { firstRow, type Db } from "./connect.ts";
import type { HeldKey } from "./idempotency.ts";
import { someFraction } from "./placing.ts";

/** A move that the forge has carried out, and what becomes of its card. */
export interface MoveEnd extends Omit<CardMove, "requestId" | "roles" | "rulesWithoutGit"> {
  readonly moveId: string;
  readonly attempt: number;
  readonly cardId: string;
}

/**
 * Ends a move by one statement, a function of the database: places the card, tells of it and keeps the answer under the key. False, and nothing is done, where that takes more: the card stands there already, somebody
 * took its place, or the move or the key is not this holder's any more.
 */
export async function endMoveAtOnce(db: Db, end: MoveEnd, held: HeldKey, answer: string): Promise<boolean> {
  const place = await placeInColumn(db, end);
  const ended = await unlessUndone(
    firstRow<{ isEnded: boolean }>(
      db,
      `select end_move(:moveId, :attempt, :cardId, :stageId, :goesTo, :rank, :fraction, :eventId, :actorId,
                       :credentialId, :key, :keyAttempt, :answer) as "isEnded"`,
      {
        ...end,
        ...place,
        fraction: someFraction(),
        credentialId: held.credentialId,
        key: held.key,
        keyAttempt: held.attempt,
        answer,
      },
    ),
  );
  return ended?.isEnded ?? false;
}
