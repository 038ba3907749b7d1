import type { Deps } from "../actions/deps.ts";
import { reopenAwaiting } from "../store/forge/deliveries.ts";
import { forgeIdOf } from "../store/forge/repositories.ts";
import { laneOfRepository, workLaneSoon } from "./receive.ts";
import { transaction } from "../store/db/transaction.ts";

/** Gives what was said on a pull request, before anything here knew of it, to its lane again. */
export async function hearAgain({ db }: Deps, repositoryId: string, number: number): Promise<void> {
  const forgeId = await forgeIdOf(db, repositoryId);
  if (forgeId === null) return;
  const lane = laneOfRepository(forgeId);
  await transaction(db, async (trx) => {
    if ((await reopenAwaiting(trx, lane, number)) > 0) await workLaneSoon(trx, lane);
  });
}
