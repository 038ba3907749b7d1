import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";

export const RECONCILE = "reconcile";

/** The minimum pause before an account that did not respond is asked again. */
export const RETRY_AFTER_S = 60;

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
