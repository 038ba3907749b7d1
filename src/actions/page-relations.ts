import { invalid } from "../errors.ts";
import { freeSlug, pageSlugOf } from "../flow/page-slug.ts";
import type { Trx } from "../store/db/connect.ts";
import { listSlugs } from "../store/cards/page-links.ts";
import { findPage, isSelfOrAbove } from "../store/cards/pages.ts";

const wrongParent = (message: string): Error => invalid(message, [{ path: "body.parentId", message }]);

/** Refuses a parent that is not a page of this board, or that stands below the page itself. The board's pages are held. */
export async function requireParent(
  trx: Trx,
  workspaceId: string,
  pageId: string,
  parentId: string,
): Promise<void> {
  if (!(await findPage(trx, workspaceId, parentId))) {
    throw wrongParent(`There is no page ${parentId} on this board. GET /v1/docs lists them.`);
  }
  if (await isSelfOrAbove(trx, pageId, parentId)) {
    throw wrongParent("A page cannot stand below itself or below a page that is below it.");
  }
}

/**
 * Gives a page the slug of its title, with a number behind it where another page has it. The slugs it had before keep leading to it, until
 * another page takes them. The board's pages are held.
 */
export async function slugFor(trx: Trx, workspaceId: string, pageId: string, title: string): Promise<string> {
  const slug = pageSlugOf(title);
  // A number at the end of a long slug takes the place of its last letters.
  const taken = await listSlugs(trx, workspaceId, slug.slice(0, 180), pageId);
  return freeSlug(slug, (candidate) => taken.has(candidate));
}
