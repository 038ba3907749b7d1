import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";

export const RECONCILE = "reconcile";

/** Schedules the comparison of one account, under another key than the job for all accounts. */
export const reconcileLater = (
  db: Db,
  organizationId: string,
  minAgeMs: number,
  seconds: number,
): Promise<void> =>
  addJob(
    db,
    RECONCILE,
    { organizationId, minAgeMs },
    { key: `${RECONCILE}:${organizationId}`, delayMs: seconds * 1_000 },
  );
