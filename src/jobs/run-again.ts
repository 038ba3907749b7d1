import type { JobHelpers } from "graphile-worker";
import type { Db } from "../store/db/connect.ts";
import { addJob, boardOfJob } from "../store/db/jobs.ts";

/**
 * Adds the running job again. Its attempts are counted from zero. Jobs of the timetable have no key:
 * one of each is enough.
 */
export async function runAgain(
  db: Db,
  name: string,
  payload: unknown,
  helpers: Pick<JobHelpers, "getQueueName" | "job">,
  delayMs: number,
): Promise<void> {
  const { job } = helpers;
  const queue = await helpers.getQueueName();
  const board = boardOfJob(job);
  await addJob(db, name, Object(payload), {
    key: job.key ?? name,
    delayMs,
    maxAttempts: job.max_attempts,
    ...(queue !== null && { queue }),
    ...(board && { about: { boardId: board.id } }),
  });
}
