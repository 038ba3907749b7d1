import type { Deps } from "../actions/deps.ts";
import { MAX_DEATHS } from "../actions/resume-move.ts";
import { countDeaths } from "../store/forge/deliveries.ts";
import { freeDeadWorkers, listDeadQueues, seeToDeadAlone } from "../store/ops/instances.ts";
import { WORK_LANE } from "./receive.ts";
import { transaction } from "../store/db/transaction.ts";

/**
 * Frees what the workers of dead processes were at, the deliveries of a lane among it. One that processes died with again and again may be why
 * they did: it is set aside, so that neither its lane nor the service waits for it for ever.
 */
export async function freeDead(deps: Deps, graceSeconds?: number): Promise<void> {
  const { db, log } = deps;
  const lanes = await listDeadQueues(db, WORK_LANE, graceSeconds);
  if (lanes.length === 0) return freeDeadWorkers(db, graceSeconds);
  const parked = await transaction(db, async (trx) => {
    if (!(await seeToDeadAlone(trx))) return [];
    const counted = await countDeaths(trx, await listDeadQueues(trx, WORK_LANE, graceSeconds), MAX_DEATHS);
    await freeDeadWorkers(trx, graceSeconds);
    return counted;
  });
  for (const delivery of parked)
    log.error({ delivery }, "a delivery ended the process working it each time and is set aside");
}
