import { conflict, notFound, type Problem } from "../errors.ts";
import type { InboxItem } from "../store/inbox/list-inbox.ts";
import { dismissInboxItem } from "../store/inbox/stored-items.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Puts an item of the inbox away unacted. Answers 204; throws `conflict` for one that clears by itself. */
export async function putAwayInboxItem(deps: Deps, caller: Caller, item: InboxItem): Promise<Answered> {
  if (!item.dismissible) {
    throw conflict(
      `An item of the kind ${item.kind} clears by itself once what it tells of is dealt with. It says: “${item.detail}”`,
    );
  }
  return deps.db.transaction(async (trx) => {
    if (!(await dismissInboxItem(trx, item.id, caller.userId))) throw noInboxItem();
    return caller.answer(trx, null, 204);
  });
}

export const noInboxItem = (): Problem =>
  notFound("There is no item with this id in an inbox of this board. GET /v1/inbox lists them.");
