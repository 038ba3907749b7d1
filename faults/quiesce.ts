import { setTimeout as sleep } from "node:timers/promises";
import { RECONCILE } from "../src/actions/reconcile/reconcile-later.ts";
import { repairSoon } from "../src/jobs/tasks.ts";
import { rows, type Db } from "../src/store/db/connect.ts";
import { isHeld } from "../src/store/ops/instances.ts";
import type { FaultWorld } from "./world/world.ts";

/**
 * What is still to be done, as a sentence; null when nothing is. An account whose tokens were refused is looked at again within a minute; nothing in it is
 * repaired before. A comparison that could not be made belongs to the repair that asked for it, however long it was put off. A key that a dead process held is
 * whose comes with it next.
 */
export async function whatIsLeft(db: Db): Promise<string | null> {
  const left = await rows<{ what: string; count: number }>(
    db,
    `select 'moves' as what, count(*) as count from operations where state = 'running'
     union all select 'release actions', count(*) from release_actions where state = 'running'
     union all select 'keys', count(*) from idempotency_keys where state = 'running' and ${isHeld("holder")}
     union all select 'accounts that cannot be asked', count(*) from organizations where refused is not null
     union all select 'comparisons', count(*) from graphile_worker.jobs j join organizations o on j.key = '${RECONCILE}:' || o.id
     union all select 'deliveries', count(*) from deliveries where state = 'waiting'
     union all select 'jobs (' || string_agg(concat_ws(' ', task_identifier, 'try', attempts, 'locked by ' || locked_by, last_error), ', ') || ')', count(*)
                 from graphile_worker.jobs where run_at <= now() + interval '5 seconds' and attempts < max_attempts`,
  );
  const found = left.filter(({ count }) => count > 0);
  return found.length === 0 ? null : found.map(({ what, count }) => `${count} ${what}`).join(", ");
}

/** Waits until nothing is left to be done; gives what was left after that many seconds. */
export async function untilIdle(
  { forge, deps }: Pick<FaultWorld, "forge" | "deps">,
  seconds: number,
): Promise<string | null> {
  const until = Date.now() + seconds * 1_000;
  for (let calm = 0; ;) {
    await forge.settle();
    const left = await whatIsLeft(deps.db).catch((error: unknown) => String(error));
    calm = left === null ? calm + 1 : 0;
    if (calm >= 3) return null;
    if (Date.now() > until) return left;
    await sleep(200);
  }
}

/** One round of all repair there is, as `trunkline repair` asks for it. */
export async function repair(world: FaultWorld, seconds: number): Promise<void> {
  await repairSoon(world.deps.db);
  await untilIdle(world, seconds);
}
