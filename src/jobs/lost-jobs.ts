import type { Deps } from "../actions/deps.ts";
import { freeJobs, listLockedJobs, type TakenJob } from "../store/ops/instances.ts";

/**
 * Finds the jobs that were taken for this process without its hearing of them: the database went away between the commit and the answer. Nobody
 * is at work on them, and since the process lives, nobody else would take them for four hours.
 */
export interface LostJobs {
  /** A job this process was given. */
  given(job: TakenJob): void;
  /** Lets go of those it was not. */
  free(workerIds: readonly string[]): Promise<void>;
}

export function findLostJobs({ db, log }: Pick<Deps, "db" | "log">): LostJobs {
  const known = new Set<string>();
  return {
    given: (job) => void known.add(nameOf(job)),
    async free(workerIds) {
      const before = [...known];
      const locked = await listLockedJobs(db, workerIds);
      const lost = locked.filter((job) => job.isOld && !known.has(nameOf(job)));
      const names = new Set(locked.map(nameOf));
      for (const each of before) if (!names.has(each)) known.delete(each);
      if (lost.length === 0) return;
      await freeJobs(db, workerIds, lost);
      log.warn(
        { jobs: lost.map(({ task }) => task) },
        "jobs that the database lost the word of are let go of",
      );
    },
  };
}

const nameOf = ({ id, attempts }: TakenJob): string => `${id} ${attempts}`;
