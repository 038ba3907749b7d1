import type { Deps } from "../actions/deps.ts";
import { reopenAwaiting } from "../store/deliveries.ts";
import { forgeIdOf } from "../store/repositories.ts";
import { laneOfRepository, workLaneSoon } from "./receive.ts";
import { transaction } from "../store/transaction.ts";

/** Gives what was said on a pull request, before anything here knew of it, to its lane again. */
export async function hearAgain({ db }: Deps, repositoryId: string, number: number): Promise<void> {
  const forgeId = await forgeIdOf(db, repositoryId);
  if (forgeId === null) return;
  const lane = laneOfRepository(forgeId);
  await transaction(db, async (trx) => {
    if ((await reopenAwaiting(trx, lane, number)) > 0) await workLaneSoon(trx, lane);
  });
}
