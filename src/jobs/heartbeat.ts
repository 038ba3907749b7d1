import { setTimeout as sleep } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import type { Deps } from "../actions/deps.ts";
import { resumeSoon } from "../actions/lease.ts";
import {
  unlockJobs,
  recordHeartbeat,
  HEARTBEAT_MS,
  deleteInstance,
  listLockedJobs,
  type JobLock,
} from "../store/ops/instances.ts";
import { useDiskSpace } from "../store/db/disk-space.ts";
import { listOrphans } from "../store/ops/operations.ts";
import { unlockDeadJobs } from "../webhooks/process-lane.ts";

/**
 * Finds jobs that are locked for this process but that it never received, because the connection
 * broke between the commit and the response. Other processes would run them only after four hours.
 */
interface ReceivedJobs {
  /** Records a job that this process received. */
  received(lock: JobLock): void;
  /** Unlocks jobs that this process did not receive. */
  unlock(workerIds: readonly string[]): Promise<void>;
}

export function trackReceivedJobs({ db, log }: Pick<Deps, "db" | "log">): ReceivedJobs {
  const started = new Set<string>();
  return {
    received: (lock) => void started.add(nameOf(lock)),
    async unlock(workerIds) {
      const before = [...started];
      const locked = await listLockedJobs(db, workerIds);
      const lost = locked.filter((job) => job.isOld && !started.has(nameOf(job)));
      const names = new Set(locked.map(nameOf));
      for (const each of before) if (!names.has(each)) started.delete(each);
      if (lost.length === 0) return;
      await unlockJobs(db, workerIds, lost);
      log.warn({ jobs: lost.map(({ task }) => task) }, "unlocked jobs that no worker received");
    },
  };
}

const nameOf = ({ id, lockedAt }: JobLock): string => `${id} ${lockedAt.getTime()}`;

interface Heartbeat {
  /** Stops the heartbeat and removes this instance. */
  stop(): Promise<void>;
}

/**
 * Writes this process's heartbeat every few seconds, checks that the disk has room, and takes over the work of dead processes.
 * Resolves after the first heartbeat, so that every owner of work is a known instance.
 */
export async function startHeartbeat(
  deps: Deps,
  workerIds: ReadonlySet<string>,
  receivedJobs: ReceivedJobs,
): Promise<Heartbeat> {
  const ending = new AbortController();
  await beat(deps, workerIds);
  const running = run(deps, workerIds, receivedJobs, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await running;
      await deleteInstance(deps.db, deps.instanceId);
    },
  };
}

const beat = ({ db, instanceId }: Deps, workerIds: ReadonlySet<string>): Promise<void> =>
  recordHeartbeat(db, instanceId, [...workerIds], packageJson.version);

async function run(
  deps: Deps,
  workerIds: ReadonlySet<string>,
  receivedJobs: ReceivedJobs,
  signal: AbortSignal,
): Promise<void> {
  // Starts without a pause: short-lived processes must also take over orphaned work.
  for (;;) {
    try {
      await unlockDeadJobs(deps);
      await receivedJobs.unlock([...workerIds]);
      for (const orphan of await listOrphans(deps.db, 20)) await resumeSoon(deps.db, orphan);
    } catch (error) {
      deps.log.warn({ err: error }, "the work of dead processes could not be taken over");
    }
    try {
      await sleep(HEARTBEAT_MS, undefined, { signal });
    } catch {
      return;
    }
    try {
      await beat(deps, workerIds);
      await useDiskSpace(deps.db);
    } catch (error) {
      deps.log.warn({ err: error }, "the heartbeat could not be written");
    }
  }
}
