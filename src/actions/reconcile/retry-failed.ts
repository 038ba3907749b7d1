import { notFound } from "../../errors.ts";
import type { Trx } from "../../store/db/connect.ts";
import { retryFailedJobs } from "../../store/db/jobs.ts";
import { isDelivery } from "../../store/forge/deliveries.ts";
import { retryParked } from "../../store/forge/lanes.ts";

/**
 * Retries a parked delivery, or all of them (null). Returns their number: 0 if the delivery is not
 * parked any more, as after the first of two calls. Throws `not_found` for an unknown one.
 */
export async function retryDeliveries(trx: Trx, guid: string | null): Promise<{ readonly retried: number }> {
  const retried = await retryParked(trx, guid);
  if (retried === 0 && guid !== null && !(await isDelivery(trx, guid)))
    throw notFound("There is no delivery with this id.");
  return { retried };
}

/** Retries all jobs that failed at their last attempt. Returns their number. */
export const retryJobs = async (trx: Trx): Promise<{ readonly retried: number }> => ({
  retried: await retryFailedJobs(trx, []),
});
