import type { Db } from "../store/db/connect.ts";
import { addJob } from "../store/db/jobs.ts";

export const RESUME_RELEASE_ACTION = "resume-release-action";

/** Asks for an action on a release to be gone on with, once it is let go of. */
export const resumeActionSoon = (db: Db, actionId: string, delayMs = 0): Promise<void> =>
  addJob(db, RESUME_RELEASE_ACTION, { actionId }, { key: `${RESUME_RELEASE_ACTION}:${actionId}`, delayMs });
