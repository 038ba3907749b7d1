import { setTimeout as sleep } from "node:timers/promises";
import { scheduleRepairs } from "../src/jobs/tasks.ts";
import { rows, type Db } from "../src/store/db/connect.ts";
import { isAliveSql } from "../src/store/ops/instances.ts";
import type { CheckedWorld } from "./world/world.ts";
import { JOBS } from "../src/store/jobs.ts";

/**
 * Describes unfinished work; null if there is none. Includes accounts whose tokens GitHub refused,
 * which are checked again within a minute, and comparisons with GitHub, however long deferred.
 * Excludes idempotency keys of dead processes, which the next request takes over.
 */
async function whatIsLeft(db: Db): Promise<string | null> {
  const counts = await rows<{ what: string; count: number }>(
    db,
    `select 'operations' as what, count(*) as count from operations where state = 'running'
     union all select 'keys', count(*) from idempotency_keys where state = 'running' and ${isAliveSql("holder")}
     union all select 'accounts that GitHub refuses', count(*) from organizations where refused is not null
     union all select 'comparisons', count(*) from graphile_worker.jobs j join organizations o on j.key = '${JOBS.reconcile.name}:' || o.id
     union all select 'deliveries', count(*) from deliveries where state = 'waiting'
     union all select 'events without a number', count(*) from events where seq is null
     union all select 'jobs (' || string_agg(concat_ws(' ', task_identifier, 'try', attempts, 'locked by ' || locked_by, last_error), ', ') || ')', count(*)
                 from graphile_worker.jobs where run_at <= now() + interval '5 seconds' and attempts < max_attempts`,
  );
  const found = counts.filter(({ count }) => count > 0);
  return found.length === 0 ? null : found.map(({ what, count }) => `${count} ${what}`).join(", ");
}

/** Waits until there is no unfinished work. After `seconds` it returns what is left. */
export async function waitUntilIdle(
  { forge, deps }: Pick<CheckedWorld, "forge" | "deps">,
  seconds: number,
): Promise<string | null> {
  const deadline = Date.now() + seconds * 1_000;
  for (let idleReads = 0; ;) {
    await forge.waitUntilIdle();
    const left = await whatIsLeft(deps.db).catch((error: unknown) => String(error));
    idleReads = left === null ? idleReads + 1 : 0;
    if (idleReads >= 3) return null;
    if (Date.now() > deadline) return left;
    await sleep(200);
  }
}

/** Runs one complete repair, as `trunkline repair` does. */
export async function repairAndWait(
  world: Pick<CheckedWorld, "forge" | "deps">,
  seconds: number,
): Promise<void> {
  await scheduleRepairs(world.deps.db);
  await waitUntilIdle(world, seconds);
}
