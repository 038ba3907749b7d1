import { wikiLinksOf } from "../flow/wiki-links.ts";
import { setPageLinks, takeSlug } from "../store/page-links.ts";
import { pageRankAtEnd } from "../store/page-places.ts";
import { holdPages, insertPage, readPage } from "../store/pages.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { requireParent, slugFor } from "./page-relations.ts";

export interface CreatePageInput {
  readonly title: string;
  readonly body?: string | undefined;
  readonly parentId?: string | null | undefined;
}

/** Adds a page behind the others below its parent. Answers 201 with it. */
export async function createPage(
  deps: Deps,
  caller: Caller,
  { title, body = "", parentId = null }: CreatePageInput,
): Promise<Answered> {
  const { workspaceId, userId } = caller;
  const id = deps.newId();
  const links = wikiLinksOf(body);
  return deps.db.transaction(async (trx) => {
    await holdPages(trx, workspaceId);
    if (parentId !== null) await requireParent(trx, workspaceId, id, parentId);
    const slug = await slugFor(trx, workspaceId, id, title);
    const rank = await pageRankAtEnd(trx, { workspaceId, parentId, pageId: id });
    await insertPage(trx, { id, workspaceId, title, slug, parentId, rank, body, createdBy: userId });
    await takeSlug(trx, workspaceId, id, slug);
    await setPageLinks(trx, workspaceId, id, links);
    return caller.answer(trx, await readPage(trx, workspaceId, id), 201);
  });
}
