import {
  listCardsLacking,
  listCardsWaitingFor,
  listForbiddenCards,
  mayBeBlocked,
} from "../../store/cards/blocked-cards.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";

export const RECHECK_BLOCKED = "recheck-blocked";

/** Schedules the job that rechecks a blocked card. */
export const recheckSoon = (db: Db, cardId: string, delayMs = 200): Promise<void> =>
  addJob(db, RECHECK_BLOCKED, { cardId }, { key: `${RECHECK_BLOCKED}:${cardId}`, delayMs });

/** Schedules the recheck for a card that is blocked, or may be blocked by a move that is running. */
export async function recheckIfBlocked(db: Db, cardId: string): Promise<void> {
  if (await mayBeBlocked(db, cardId)) await recheckSoon(db, cardId);
}

/** Schedules the recheck for cards that were refused because one of these branches was missing. */
export async function recheckMissingBranches(
  db: Db,
  branches: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<void> {
  for (const cardId of await listCardsLacking(db, branches)) await recheckSoon(db, cardId);
}

/** Schedules the recheck for cards that were refused for a permission, after an account has granted more. */
export async function recheckForbidden(trx: Trx, organizationId: string): Promise<void> {
  for (const { cardId, at } of await listForbiddenCards(trx, organizationId))
    await recheckPermitted(trx, cardId, at, 0);
}

/** Has a separate key, because `recheckSoon` would replace the job and lose `permittedAfter`. */
export const recheckPermitted = (
  db: Db,
  cardId: string,
  permittedAfter: string,
  delayMs: number,
): Promise<void> =>
  addJob(
    db,
    RECHECK_BLOCKED,
    { cardId, permittedAfter },
    { key: `${RECHECK_BLOCKED}:permitted:${cardId}`, delayMs },
  );

/** Schedules the recheck for cards that a limit keeps out of a stage, after it may have got room. */
export async function recheckFull(db: Db, stageId: string): Promise<void> {
  for (const cardId of await listCardsWaitingFor(db, stageId)) await recheckSoon(db, cardId);
}
