import { wikiLinksOf } from "../flow/wiki-links.ts";
import { setPageLinks, takeSlug } from "../store/cards/page-links.ts";
import { pageRankAtEnd, holdPages, insertPage, readPage } from "../store/cards/pages.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
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
  write: Write,
  { title, body = "", parentId = null }: CreatePageInput,
): Promise<StoredAnswer> {
  const { workspaceId, userId } = write;
  const id = deps.newId();
  const links = wikiLinksOf(body);
  const { trx } = write;
  await holdPages(trx, workspaceId);
  if (parentId !== null) await requireParent(trx, workspaceId, id, parentId);
  const slug = await slugFor(trx, workspaceId, id, title);
  const rank = await pageRankAtEnd(trx, { workspaceId, parentId, pageId: id });
  await insertPage(trx, { id, workspaceId, title, slug, parentId, rank, body, createdBy: userId });
  await takeSlug(trx, workspaceId, id, slug);
  await setPageLinks(trx, workspaceId, id, links);
  return write.answer(await readPage(trx, workspaceId, id), 201);
}
