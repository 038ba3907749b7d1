import type { Deps } from "../actions/deps.ts";
import {
  dropDeadInstances,
  dropFailedJobs,
  dropOldActions,
  dropOldCheckReports,
  dropOldDeliveries,
  dropOldKeys,
  dropOldOperations,
  dropOldReports,
  type Retention,
} from "../store/ops/retention.ts";

export const DROP_OLD = "drop-what-is-old";

/** Forgets what is no longer of use, and says how much that was. */
export async function dropOld({ db, log }: Deps, { deliveryDays, historyDays }: Retention): Promise<void> {
  const dropped = {
    keys: await dropOldKeys(db),
    deliveries: await dropOldDeliveries(db, deliveryDays),
    jobs: await dropFailedJobs(db, historyDays),
    instances: await dropDeadInstances(db),
    monitorReports: await dropOldReports(db),
    checkReports: await dropOldCheckReports(db, historyDays),
    releaseActions: await dropOldActions(db, historyDays),
  };
  await dropOldOperations(db, historyDays);
  log.info(dropped, "dropped what is old");
}
