import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";

export const RECONCILE = "reconcile";

/** Has one account compared with the forge. Under a key of its own: all of them may be asked for meanwhile. */
export const reconcileLater = (
  db: Db,
  organizationId: string,
  quietMs: number,
  seconds: number,
): Promise<void> =>
  addJob(
    db,
    RECONCILE,
    { organizationId, quietMs },
    { key: `${RECONCILE}:${organizationId}`, delayMs: seconds * 1_000 },
  );
