import { removeLabel, type Label } from "../store/labels.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Deletes a label and takes it off every card at once. Answers 204. */
export async function deleteLabel(deps: Deps, caller: Caller, label: Label): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    await removeLabel(trx, label.id);
    return caller.answer(trx, null, 204);
  });
}
