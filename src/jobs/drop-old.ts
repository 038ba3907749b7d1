import type { Deps } from "../actions/deps.ts";
import { dropOldReports } from "../store/monitors.ts";
import { dropOldActions } from "../store/release-actions.ts";
import {
  dropDeadInstances,
  dropFailedJobs,
  dropOldDeliveries,
  dropOldKeys,
  dropOldOperations,
  type Retention,
} from "../store/retention.ts";

export const DROP_OLD = "drop-what-is-old";

/** Forgets what is no longer of use, and says how much that was. */
export async function dropOld({ db, log }: Deps, { deliveryDays, historyDays }: Retention): Promise<void> {
  const dropped = {
    keys: await dropOldKeys(db),
    deliveries: await dropOldDeliveries(db, deliveryDays),
    jobs: await dropFailedJobs(db, historyDays),
    instances: await dropDeadInstances(db),
  };
  await dropOldReports(db);
  await dropOldOperations(db, historyDays);
  await dropOldActions(db, historyDays);
  log.info(dropped, "dropped what is old");
}
