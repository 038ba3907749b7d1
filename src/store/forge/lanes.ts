import type { Db } from "../db/connect.ts";
import { requeueDeferred, unparkDeliveries } from "./deliveries.ts";
import { scheduleLanes } from "../jobs.ts";
import { findForgeId } from "./repositories.ts";

/**
 * The lane of a delivery. The deliveries of one repository are processed in order, independently of
 * other repositories. The ids are GitHub's.
 */
export function laneOf(from: {
  readonly repositoryId: number | null;
  readonly installationId: number | null;
}): string {
  if (from.repositoryId !== null) return `repository:${from.repositoryId}`;
  return from.installationId === null ? "app" : `installation:${from.installationId}`;
}

/**
 * Adds a job for each lane, which processes all its waiting deliveries. A job that was delayed by a
 * failure keeps its time; otherwise each new delivery would retry the failing one.
 */
export const addLaneJobs = (db: Db, lanes: readonly string[]): Promise<void> =>
  scheduleLanes(db, [...new Set(lanes)]);

/** Retries a parked delivery, or all of them (null). Returns their number. */
export async function retryParked(db: Db, guid: string | null): Promise<number> {
  const lanes = await unparkDeliveries(db, guid);
  await addLaneJobs(db, lanes);
  return lanes.length;
}

/** Puts the deferred events of a pull request back into their lane. */
export async function replayDeferred(db: Db, repositoryId: string, number: number): Promise<void> {
  const forgeId = await findForgeId(db, repositoryId);
  if (forgeId === null) return;
  const lane = laneOf({ repositoryId: forgeId, installationId: null });
  if ((await requeueDeferred(db, lane, number)) > 0) await addLaneJobs(db, [lane]);
}
