import { RECHECK_BLOCKED } from "../../../src/actions/reconcile/recheck-soon.ts";
import { eventually } from "../api.ts";
import { settled } from "../database/database-content.ts";
import type { TestWorld } from "../world.ts";

/** Waits until all work is done and no blocked card is about to be inspected. */
export async function untilRechecked(world: TestWorld): Promise<void> {
  await settled(world);
  await eventually(
    () => world.service.deps.db("graphile_worker.jobs").where({ task_identifier: RECHECK_BLOCKED }),
    ({ length }) => length === 0,
  );
}
