import { invalid, requireFound } from "../../errors.ts";
import { freeSlug, pageSlugOf } from "../../flow/names.ts";
import { isSelfOrAncestor } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import { listSlugs, setPageLinks, takeSlug } from "../../store/cards/page-links.ts";
import {
  moveChildrenToParent,
  pageRankAt,
  pageRankAtEnd,
  findPage,
  lockPages,
  insertPage,
  readPage,
  removePage,
  updatePage,
  type PageChanges,
  type PageHead,
} from "../../store/cards/pages.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { wikiLinksOf } from "./wiki-links.ts";

interface CreatePageInput {
  readonly title: string;
  readonly body?: string | undefined;
  readonly parentId?: string | null | undefined;
}

/** Adds a page after the last child of its parent. Returns 201 with the page. */
export async function createPage(
  deps: Deps,
  write: Write,
  { title, body = "", parentId = null }: CreatePageInput,
): Promise<StoredResponse> {
  const { trx, workspaceId, userId } = write;
  const id = deps.newId();
  const links = await wikiLinksOf(body);
  await lockPages(trx, workspaceId);
  if (parentId !== null) await requireParent(trx, workspaceId, id, parentId);
  const slug = await slugFor(trx, workspaceId, id, title);
  const rank = await pageRankAtEnd(trx, { workspaceId, parentId, pageId: id });
  await insertPage(trx, { id, workspaceId, title, slug, parentId, rank, body, createdBy: userId });
  await takeSlug(trx, workspaceId, id, slug);
  await setPageLinks(trx, workspaceId, id, links);
  await recordPage(write, null, { id, title, parentId });
  return write.respond(await readPage(trx, workspaceId, id), 201);
}

interface ChangePageInput {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  /** Null moves the page to the top level. */
  readonly parentId?: string | null | undefined;
  readonly position?: number | undefined;
}

/** Sets the given fields and returns the whole page. A new title changes the slug. */
export async function changePage(
  write: Write,
  { id }: PageHead,
  input: ChangePageInput,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const links = await wikiLinksOf(input.body ?? "");
  await lockPages(trx, workspaceId);
  const page = requireFound(await findPage(trx, workspaceId, id), "page");
  if (Object.keys(input).length > 0) {
    const changes: PageChanges = {
      ...(await titleChanges(trx, workspaceId, page, input)),
      ...(input.body !== undefined && { body: input.body }),
      ...(await placeChanges(trx, workspaceId, page, input)),
    };
    await updatePage(trx, id, changes, write.userId);
    if (changes.slug !== undefined) await takeSlug(trx, workspaceId, id, changes.slug);
    if (input.body !== undefined) await setPageLinks(trx, workspaceId, id, links);
    await recordPage(write, page, requireFound(await findPage(trx, workspaceId, id), "page"));
  }
  return write.respond(await readPage(trx, workspaceId, id));
}

async function titleChanges(
  trx: Trx,
  workspaceId: string,
  page: PageHead,
  { title }: ChangePageInput,
): Promise<PageChanges> {
  if (title === undefined || title === page.title) return {};
  return { title, slug: await slugFor(trx, workspaceId, page.id, title) };
}

async function placeChanges(
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

/** Deletes a page. Its children move up to its parent. Returns 204. */
export async function deletePage(write: Write, { id }: PageHead): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  await lockPages(trx, workspaceId);
  const page = requireFound(await findPage(trx, workspaceId, id), "page");
  await moveChildrenToParent(trx, id);
  await removePage(trx, id);
  await recordPage(write, page, null);
  return write.respond(null, 204);
}

const recordPage = (write: Write, from: PageHead | null, to: PageHead | null): Promise<void> =>
  recordChange(write.trx, write, { kind: "page_changed", data: { from, to } });

const wrongParent = (message: string): Error => invalid(message, [{ path: "body.parentId", message }]);

/** The caller has locked the board's pages. */
async function requireParent(trx: Trx, workspaceId: string, pageId: string, parentId: string): Promise<void> {
  if (!(await findPage(trx, workspaceId, parentId))) {
    throw wrongParent(`There is no page ${parentId} on this board. GET /v1/docs lists them.`);
  }
  if (await isSelfOrAncestor(trx, "pages", pageId, parentId)) {
    throw wrongParent("A page cannot be its own parent, or have a page below it as its parent.");
  }
}

/**
 * The slug for a page's title, with a number at its end if another page has the slug. Earlier slugs
 * lead to the page until another page takes them. The caller has locked the board's pages.
 */
async function slugFor(trx: Trx, workspaceId: string, pageId: string, title: string): Promise<string> {
  const slug = pageSlugOf(title);
  // A number at the end of a long slug replaces its last letters.
  const taken = await listSlugs(trx, workspaceId, slug.slice(0, 180), pageId);
  return freeSlug(slug, (candidate) => taken.has(candidate));
}
