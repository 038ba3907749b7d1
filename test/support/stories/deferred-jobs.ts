import type { Db } from "../../../src/store/db/connect.ts";
import type { TestWorld } from "../world.ts";

/** Makes scheduled jobs run now. */
export const runDeferredJobs = (world: TestWorld): Promise<void> => runDeferredJobsIn(world.service.deps.db);

/** The same for a service in another process. */
export async function runDeferredJobsIn(db: Db): Promise<void> {
  await db("graphile_worker._private_jobs")
    .where("run_at", ">", db.fn.now())
    .whereNull("locked_at")
    .update({ run_at: db.fn.now() });
}
