import { notFound } from "../errors.ts";
import { wikiLinksOf } from "../flow/wiki-links.ts";
import type { Trx } from "../store/db/connect.ts";
import { setPageLinks, takeSlug } from "../store/cards/page-links.ts";
import {
  pageRankAt,
  pageRankAtEnd,
  findPage,
  holdPages,
  readPage,
  updatePage,
  type PageChanges,
  type PageHead,
} from "../store/cards/pages.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { requireParent, slugFor } from "./page-relations.ts";

export interface ChangePageInput {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  /** Null puts it on the top level. */
  readonly parentId?: string | null | undefined;
  readonly position?: number | undefined;
}

/** Sets the fields that are given, leaves the others, and answers with the whole page. A new title moves the slug. */
export async function changePage(
  write: Write,
  { id }: PageHead,
  input: ChangePageInput,
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  const links = input.body === undefined ? null : wikiLinksOf(input.body);
  await holdPages(trx, workspaceId);
  const page = await findPage(trx, workspaceId, id);
  if (!page) throw notFound("There is no page with this id on this board.");
  if (Object.keys(input).length > 0) {
    const changes: PageChanges = {
      ...(await named(trx, workspaceId, page, input)),
      ...(input.body !== undefined && { body: input.body }),
      ...(await placed(trx, workspaceId, page, input)),
    };
    await updatePage(trx, id, changes, write.userId);
    if (changes.slug !== undefined) await takeSlug(trx, workspaceId, id, changes.slug);
    if (links) await setPageLinks(trx, workspaceId, id, links);
  }
  return write.answer(await readPage(trx, workspaceId, id));
}

async function named(
  trx: Trx,
  workspaceId: string,
  page: PageHead,
  { title }: ChangePageInput,
): Promise<PageChanges> {
  if (title === undefined || title === page.title) return {};
  return { title, slug: await slugFor(trx, workspaceId, page.id, title) };
}

async function placed(
  trx: Trx,
  workspaceId: string,
  page: PageHead,
  { parentId = page.parentId, position }: ChangePageInput,
): Promise<PageChanges> {
  const isElsewhere = parentId !== page.parentId;
  if (isElsewhere && parentId !== null) await requireParent(trx, workspaceId, page.id, parentId);
  if (!isElsewhere && position === undefined) return {};
  const place = { workspaceId, parentId, pageId: page.id };
  const rank = await (position === undefined ? pageRankAtEnd(trx, place) : pageRankAt(trx, place, position));
  return { parentId, rank };
}
