import { FOLLOW_TRUNKS } from "../actions/follow-trunk.ts";
import { LOOK_AFTER_HOTFIXES } from "../actions/bring-back-hotfix.ts";
import { RECONCILE } from "../actions/reconcile-later.ts";
import { SWEEP_PICK_LEFTOVERS } from "../actions/releases/pick-card.ts";
import type { Db } from "../store/connect.ts";
import { addJob, retryGivenUp } from "../store/jobs.ts";
import { TAKE_IN_MISSED } from "../webhooks/take-in-missed.ts";
import { SYNC_INSTALLATIONS, WORK_FORGOTTEN_LANES } from "./tasks.ts";

const REPAIRS = [
  SYNC_INSTALLATIONS,
  TAKE_IN_MISSED,
  WORK_FORGOTTEN_LANES,
  FOLLOW_TRUNKS,
  LOOK_AFTER_HOTFIXES,
  SWEEP_PICK_LEFTOVERS,
] as const;

/**
 * Asks the running processes for all the repair the timetable has, at once, also of what has just changed, and for what they have given up. Gives the
 * repairs' names.
 */
export async function repairSoon(db: Db): Promise<string[]> {
  for (const task of REPAIRS) await addJob(db, task, {}, { key: task });
  await addJob(db, RECONCILE, { quietMs: 0 }, { key: RECONCILE });
  const asked = [...REPAIRS, RECONCILE];
  await retryGivenUp(db, asked);
  return asked;
}
