import { removeFeature, type Feature } from "../store/features.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Deletes a feature; its cards stay, without it. Answers 204. */
export async function deleteFeature(deps: Deps, caller: Caller, feature: Feature): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    await removeFeature(trx, feature.id);
    return caller.answer(trx, null, 204);
  });
}
