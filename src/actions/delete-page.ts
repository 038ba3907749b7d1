import { notFound } from "../errors.ts";
import { handOnChildren } from "../store/page-places.ts";
import { findPage, holdPages, removePage, type PageHead } from "../store/pages.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";

/** Deletes a page and hands those below it to its parent, where they take its place. Links to it dangle. Answers 204. */
export async function deletePage(deps: Deps, caller: Caller, { id }: PageHead): Promise<Answered> {
  return deps.db.transaction(async (trx) => {
    await holdPages(trx, caller.workspaceId);
    if (!(await findPage(trx, caller.workspaceId, id))) {
      throw notFound("There is no page with this id on this board.");
    }
    await handOnChildren(trx, id);
    await removePage(trx, id);
    return caller.answer(trx, null, 204);
  });
}
