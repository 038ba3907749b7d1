import type { Deps } from "../actions/deps.ts";
import type { Db } from "../store/db/connect.ts";
import { insertDeliveries, type NewDelivery } from "../store/forge/deliveries.ts";
import { addJob, addJobs } from "../store/db/jobs.ts";
import { transaction } from "../store/db/transaction.ts";

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

/** A delivery as it is kept, in its lane. */
export const inLane = (delivery: IncomingDelivery): NewDelivery => {
  const { guid, event, payload, source } = delivery;
  return { guid, event, lane: laneOf(delivery), payload, source };
};

/** Keeps a delivery and asks for it to be worked, in one transaction. */
export async function receiveDelivery(deps: Deps, delivery: IncomingDelivery): Promise<void> {
  const kept = inLane(delivery);
  const isNew = await transaction(deps.db, async (trx) => {
    const added = await insertDeliveries(trx, [kept]);
    if (added.size > 0) await workLaneSoon(trx, kept.lane);
    return added.size > 0;
  });
  deps.metrics.deliveries.inc({ source: kept.source, result: isNew ? "new" : "known" });
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

/** The same for several lanes, by one statement. */
export const workLanesSoon = (db: Db, lanes: readonly string[]): Promise<void> =>
  addJobs(
    db,
    WORK_LANE,
    lanes.map((lane) => ({ payload: { lane }, ...jobOf(lane) })),
  );

/** Puts off what waits in a lane. */
export const workLaneLater = (db: Db, lane: string, delayMs: number): Promise<void> =>
  addJob(db, WORK_LANE, { lane }, { ...jobOf(lane), delayMs });

const jobOf = (lane: string): { key: string; queue: string } => ({
  key: `${WORK_LANE}:${lane}`,
  queue: lane,
});
