import {
  listCardsMissingBranches,
  listCardsWaitingForRoom,
  listNotPermittedCards,
  mayBeBlocked,
} from "../../store/cards/blocked-cards.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { inspectArmedWaitingForRoom, inspectIfArmed } from "./inspect-soon.ts";

export const RECHECK_BLOCKED = "recheck-blocked";

/** Schedules the job that rechecks a blocked card, `recheckBlocked`. */
export const recheckSoon = (db: Db, cardId: string, delayMs = 200): Promise<void> =>
  addJob(
    db,
    RECHECK_BLOCKED,
    { cardId },
    { about: { cardId }, key: `${RECHECK_BLOCKED}:${cardId}`, delayMs },
  );

/**
 * After an event about a card: schedules the recheck if the card is blocked, or if a running move may
 * block it, and the inspection of its armed move, if it has one.
 */
export async function recheckRefusedAndArmedMoves(db: Db, cardId: string): Promise<void> {
  if (await mayBeBlocked(db, cardId)) await recheckSoon(db, cardId);
  await inspectIfArmed(db, cardId);
}

/** Schedules the recheck for cards that were refused because one of these branches was missing. */
export async function recheckMissingBranches(
  db: Db,
  branches: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<void> {
  for (const cardId of await listCardsMissingBranches(db, branches)) await recheckSoon(db, cardId);
}

/** Schedules the recheck of cards that lacked a permission, after their account has granted it. */
export async function recheckForbidden(trx: Trx, organizationId: string): Promise<void> {
  for (const { cardId, at } of await listNotPermittedCards(trx, organizationId))
    await recheckPermitted(trx, cardId, at, 0);
}

/**
 * Schedules the recheck of a card that was refused at `refusedAt` for a missing permission. The job has
 * a separate key, because `recheckSoon` would replace it and lose `refusedAt`.
 */
export const recheckPermitted = (db: Db, cardId: string, refusedAt: string, delayMs: number): Promise<void> =>
  addJob(
    db,
    RECHECK_BLOCKED,
    { cardId, refusedAt },
    { about: { cardId }, key: `${RECHECK_BLOCKED}:permitted:${cardId}`, delayMs },
  );

/** Schedules the recheck of cards that a stage's limit kept out, after a card may have left it. */
export async function recheckCardsWaitingForRoom(db: Db, stageId: string): Promise<void> {
  for (const cardId of await listCardsWaitingForRoom(db, stageId)) await recheckSoon(db, cardId);
  await inspectArmedWaitingForRoom(db, stageId);
}
