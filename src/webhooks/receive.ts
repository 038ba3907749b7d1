import type { Deps } from "../actions/deps.ts";
import { insertDelivery } from "../store/deliveries.ts";
import type { Db } from "../store/connect.ts";
import { addJob } from "../store/jobs.ts";

export const WORK_LANE = "work-lane";

export interface IncomingDelivery {
  readonly guid: string;
  readonly event: string;
  readonly payload: string;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  /** Whether the forge sent it, or its log was asked because it never arrived. */
  readonly source: "webhook" | "log";
}

/**
 * Keeps a delivery and asks for it to be worked, in one transaction: once this resolves no crash loses it. False when it is one we
 * have already.
 */
export async function receiveDelivery(deps: Deps, delivery: IncomingDelivery): Promise<boolean> {
  const { guid, event, payload, source } = delivery;
  const lane = laneOf(delivery);
  const isNew = await deps.db.transaction(async (trx) => {
    const isInserted = await insertDelivery(trx, { guid, event, lane, payload, source });
    if (isInserted) await workLaneSoon(trx, lane);
    return isInserted;
  });
  deps.metrics.deliveries.inc({ source, result: isNew ? "new" : "known" });
  return isNew;
}

/** What happens in one repository is worked in order, and does not wait for any other. */
function laneOf({ repositoryId, installationId }: IncomingDelivery): string {
  if (repositoryId !== null) return laneOfRepository(repositoryId);
  return installationId === null ? "app" : `installation:${installationId}`;
}

/** By the forge's id. */
export const laneOfRepository = (forgeId: number): string => `repository:${forgeId}`;

/**
 * One waiting job a lane is enough: it works off all that waits. Where a failure put it off it stays put off, or each new delivery would
 * be one more try for the one that fails, and a busy repository would use up its tries within a second of an outage.
 */
export const workLaneSoon = (db: Db, lane: string): Promise<void> =>
  addJob(db, WORK_LANE, { lane }, { ...jobOf(lane), keepsTime: true });

/** Puts off what waits in a lane. */
export const workLaneLater = (db: Db, lane: string, delayMs: number): Promise<void> =>
  addJob(db, WORK_LANE, { lane }, { ...jobOf(lane), delayMs });

const jobOf = (lane: string): { key: string; queue: string } => ({
  key: `${WORK_LANE}:${lane}`,
  queue: lane,
});
