import type { Db } from "../store/db/connect.ts";
import { unpark } from "../store/forge/deliveries.ts";
import { workLaneSoon } from "./receive.ts";
import { transaction } from "../store/db/transaction.ts";

/** Gives deliveries that were set aside another try, this one or all of them; gives how many. */
export async function retryParked(db: Db, guid: string | null): Promise<number> {
  return transaction(db, async (trx) => {
    const lanes = await unpark(trx, guid);
    for (const lane of new Set(lanes)) await workLaneSoon(trx, lane);
    return lanes.length;
  });
}
