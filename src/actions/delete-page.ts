import { notFound } from "../errors.ts";
import { handOnChildren, findPage, holdPages, removePage, type PageHead } from "../store/cards/pages.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";

/** Deletes a page and hands those below it to its parent, where they take its place. Links to it dangle. Answers 204. */
export async function deletePage(write: Write, { id }: PageHead): Promise<StoredAnswer> {
  const { trx } = write;
  await holdPages(trx, write.workspaceId);
  if (!(await findPage(trx, write.workspaceId, id))) {
    throw notFound("There is no page with this id on this board.");
  }
  await handOnChildren(trx, id);
  await removePage(trx, id);
  return write.answer(null, 204);
}
