import type { Db } from "../store/db/connect.ts";
import { addJob } from "../store/db/jobs.ts";

export const HEAR_AGAIN = "hear-again";

/** A pull request has become known: what was said there before is heard once that is committed. */
export const hearAgainSoon = (db: Db, repositoryId: string, number: number): Promise<void> =>
  addJob(db, HEAR_AGAIN, { repositoryId, number }, { key: `${HEAR_AGAIN}:${repositoryId}:${number}` });
