import type { Db } from "../db/connect.ts";
import { reopenDeferred, unpark } from "./deliveries.ts";
import { addJob, addJobs } from "../db/jobs.ts";
import { forgeIdOf } from "./repositories.ts";

export const WORK_LANE = "work-lane";
export const REPLAY_DEFERRED = "replay-deferred-events";

/**
 * The lane of a delivery: deliveries of one repository are worked in order, and wait for no other
 * repository's. By the forge's ids.
 */
export function laneOf(from: {
  readonly repositoryId: number | null;
  readonly installationId: number | null;
}): string {
  if (from.repositoryId !== null) return `repository:${from.repositoryId}`;
  return from.installationId === null ? "app" : `installation:${from.installationId}`;
}

const keyOf = (lane: string): string => `${WORK_LANE}:${lane}`;

/**
 * Asks for lanes to be worked. One waiting job per lane is enough: it works all deliveries that
 * wait. A job that a failure has delayed keeps its time: otherwise each new delivery would be one
 * more try for the one that fails.
 */
export const workLanesSoon = (db: Db, lanes: readonly string[]): Promise<void> =>
  addJobs(
    db,
    WORK_LANE,
    [...new Set(lanes)].map((lane) => ({ payload: { lane }, key: keyOf(lane), queue: lane })),
  );

/** Delays the job of a lane after a failure. */
export const workLaneLater = (db: Db, lane: string, delayMs: number): Promise<void> =>
  addJob(db, WORK_LANE, { lane }, { key: keyOf(lane), queue: lane, delayMs });

/** Gives one parked delivery another try, or all of them; returns how many. */
export async function retryParked(db: Db, guid: string | null): Promise<number> {
  const lanes = await unpark(db, guid);
  await workLanesSoon(db, lanes);
  return lanes.length;
}

/**
 * Asks for the deferred events of a pull request to be replayed once the caller's transaction,
 * which makes it known, is committed.
 */
export const replayDeferredSoon = (db: Db, repositoryId: string, number: number): Promise<void> =>
  addJob(
    db,
    REPLAY_DEFERRED,
    { repositoryId, number },
    { key: `${REPLAY_DEFERRED}:${repositoryId}:${number}` },
  );

/** Returns the deferred events of a pull request to their lane. */
export async function replayDeferred(db: Db, repositoryId: string, number: number): Promise<void> {
  const forgeId = await forgeIdOf(db, repositoryId);
  if (forgeId === null) return;
  const lane = laneOf({ repositoryId: forgeId, installationId: null });
  if ((await reopenDeferred(db, lane, number)) > 0) await workLanesSoon(db, [lane]);
}
