import type { Db, Trx } from "../db/connect.ts";
import { JOBS, schedule } from "../jobs.ts";
import { listArmedForRoom, mayBeArmed } from "./armed-moves.ts";
import {
  listCardsMissingBranches,
  listCardsWaitingForRoom,
  listNotPermittedCards,
  mayBeBlocked,
} from "./blocked-cards.ts";

/**
 * After an event about a card: schedules the recheck if the card is blocked, or if a running move may
 * block it, and the inspection of its armed move, if it has one.
 */
export async function recheckRefusedAndArmedMoves(db: Db, cardId: string): Promise<void> {
  if (await mayBeBlocked(db, cardId)) await schedule(db, JOBS.recheckBlocked, { cardId });
  if (await mayBeArmed(db, cardId)) await schedule(db, JOBS.inspectArmed, { cardId });
}

/** Schedules the recheck for cards that were refused because one of these branches was missing. */
export async function recheckMissingBranches(
  db: Db,
  branches: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<void> {
  for (const cardId of await listCardsMissingBranches(db, branches))
    await schedule(db, JOBS.recheckBlocked, { cardId });
}

/** Schedules the recheck of cards that lacked a permission, after their account has granted it. */
export async function recheckForbidden(trx: Trx, organizationId: string): Promise<void> {
  for (const { cardId, at } of await listNotPermittedCards(trx, organizationId))
    await schedule(trx, JOBS.recheckBlocked, { cardId, refusedAt: at }, { delayMs: 0 });
}

/**
 * Schedules the recheck of the cards that a stage's limit kept out, and the inspection of those whose
 * moves wait for it, after a card may have left the stage.
 */
export async function recheckCardsWaitingForRoom(db: Db, stageId: string): Promise<void> {
  for (const cardId of await listCardsWaitingForRoom(db, stageId))
    await schedule(db, JOBS.recheckBlocked, { cardId });
  for (const cardId of await listArmedForRoom(db, stageId)) await schedule(db, JOBS.inspectArmed, { cardId });
}
