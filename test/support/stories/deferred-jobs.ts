import type { TestWorld } from "../world.ts";

/** Makes scheduled jobs run now. */
export const runDeferredJobs = (world: TestWorld): Promise<unknown> =>
  world.service.deps
    .db("graphile_worker._private_jobs")
    .where("run_at", ">", world.service.deps.db.fn.now())
    .whereNull("locked_at")
    .update({ run_at: world.service.deps.db.fn.now() })
    .then(() => undefined);
