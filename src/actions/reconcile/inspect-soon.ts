import { listArmedForRoom, mayBeArmed } from "../../store/cards/armed-moves.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";

export const INSPECT_ARMED = "inspect-armed";

/** A burst of events leads to one inspection. */
const DEBOUNCE_MS = 1_000;

/** Schedules the inspection of a card whose move waits. */
export const inspectArmedSoon = (db: Db, cardId: string, delayMs = DEBOUNCE_MS): Promise<void> =>
  addJob(db, INSPECT_ARMED, { cardId }, { about: { cardId }, key: `${INSPECT_ARMED}:${cardId}`, delayMs });

/** Schedules the inspection at a known time, besides the one after the next event. */
export const inspectArmedIn = (db: Db, cardId: string, delayMs: number): Promise<void> =>
  addJob(
    db,
    INSPECT_ARMED,
    { cardId },
    { about: { cardId }, key: `${INSPECT_ARMED}:later:${cardId}`, delayMs },
  );

/** Schedules the inspection of a card after an event about it. */
export async function inspectIfArmed(db: Db, cardId: string): Promise<void> {
  if (await mayBeArmed(db, cardId)) await inspectArmedSoon(db, cardId);
}

/** Schedules the inspection of the cards whose moves wait for room in a stage. */
export async function inspectArmedWaitingForRoom(db: Db, stageId: string): Promise<void> {
  for (const cardId of await listArmedForRoom(db, stageId)) await inspectArmedSoon(db, cardId);
}
