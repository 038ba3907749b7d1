import { eventually } from "../api.ts";
import { settled } from "../database/database-content.ts";
import type { TestWorld } from "../world.ts";
import { JOBS } from "../../../src/store/jobs.ts";

/** Waits until all work is done and no blocked card is about to be inspected. */
export async function untilRechecked(world: TestWorld): Promise<void> {
  await settled(world);
  await eventually(
    () =>
      world.service.deps
        .db("graphile_worker.jobs")
        .where({ task_identifier: JOBS.recheckBlocked.name })
        .whereNot("key", "like", "%:later:%"),
    ({ length }) => length === 0,
  );
}
