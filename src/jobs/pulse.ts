import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../actions/deps.ts";
import { resumeActionSoon } from "../actions/releases/release-action.ts";
import { RESUME_ORPHANED_MOVES } from "../actions/resume-move.ts";
import { heartbeat, HEARTBEAT_MS, leave } from "../store/instances.ts";
import { addJob } from "../store/jobs.ts";
import { listOrphanedOperations } from "../store/operations.ts";
import { listOrphanedActions } from "../store/release-actions.ts";
import type { LostJobs } from "./lost-jobs.ts";
import { freeDead } from "../webhooks/work-lane.ts";

export interface Pulse {
  /** Ends the pulse and tells the others that this process is gone. */
  stop(): Promise<void>;
}

/**
 * Says every few seconds that this process is alive, and sees to what dead ones left behind. The first beat is over when this
 * resolves, so that nothing is held by a process nobody has heard of.
 */
export async function startPulse(
  deps: Deps,
  workerIds: ReadonlySet<string>,
  lostJobs: LostJobs,
): Promise<Pulse> {
  const ending = new AbortController();
  await heartbeat(deps.db, deps.instanceId, [...workerIds]);
  const beating = beat(deps, workerIds, lostJobs, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await beating;
      await leave(deps.db, deps.instanceId);
    },
  };
}

async function beat(
  deps: Deps,
  workerIds: ReadonlySet<string>,
  lostJobs: LostJobs,
  ending: AbortSignal,
): Promise<void> {
  // The first look is at once: where processes live for a few seconds only, somebody has to go on with what they leave.
  for (;;) {
    try {
      await freeDead(deps);
      await lostJobs.free([...workerIds]);
      const orphans = await listOrphanedOperations(deps.db, 1);
      if (orphans.length > 0)
        await addJob(deps.db, RESUME_ORPHANED_MOVES, {}, { key: RESUME_ORPHANED_MOVES });
      for (const { id } of await listOrphanedActions(deps.db, 20)) await resumeActionSoon(deps.db, id);
    } catch (error) {
      deps.log.warn({ err: error }, "what dead processes left could not be seen to");
    }
    try {
      await sleep(HEARTBEAT_MS, undefined, { signal: ending });
    } catch {
      return;
    }
    try {
      await heartbeat(deps.db, deps.instanceId, [...workerIds]);
    } catch (error) {
      deps.log.warn({ err: error }, "the database could not be told that this process is alive");
    }
  }
}
