import { column, firstValue, rows, type Db } from "../db/connect.ts";
import { allInOrder } from "../db/transaction.ts";

/** Returns the slugs of a board's other pages that begin with `start`. */
export async function listSlugs(
  db: Db,
  workspaceId: string,
  start: string,
  exceptPageId: string,
): Promise<Set<string>> {
  return new Set(
    await column<string>(
      db,
      `select slug from pages
      where workspace_id = :workspaceId and starts_with(slug, :start) and id <> :exceptPageId`,
      { workspaceId, start, exceptPageId },
    ),
  );
}

/** Returns the id of the page that a slug leads to, also an earlier slug. */
export async function findPageIdBySlug(db: Db, workspaceId: string, slug: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select page_id from page_slugs where workspace_id = :workspaceId and slug = :slug`,
    { workspaceId, slug },
  );
}

/** Enough for links to be corrected; without a limit, renaming a page again and again fills the table. */
const EARLIER_SLUGS = 20;

/**
 * Assigns a slug to a page, even if it was an earlier slug of another page. The page keeps its
 * latest 20 earlier slugs.
 */
export async function takeSlug(db: Db, workspaceId: string, pageId: string, slug: string): Promise<void> {
  await allInOrder([
    rows(
      db,
      `insert into page_slugs (workspace_id, slug, page_id) values (:workspaceId, :slug, :pageId)
       on conflict (workspace_id, slug) do update set page_id = excluded.page_id, taken_at = excluded.taken_at`,
      { workspaceId, slug, pageId },
    ),
    rows(
      db,
      `delete from page_slugs where page_id = :pageId and taken_at <= (
         select taken_at from page_slugs where page_id = :pageId order by taken_at desc offset :kept limit 1)`,
      { pageId, kept: EARLIER_SLUGS + 1 },
    ),
  ]);
}

/** Replaces the slugs that a page's body links to. */
export async function setPageLinks(
  db: Db,
  workspaceId: string,
  pageId: string,
  slugs: readonly string[],
): Promise<void> {
  await db("page_links").where({ page_id: pageId }).delete();
  if (slugs.length === 0) return;
  await db("page_links").insert(
    slugs.map((slug, position) => ({ page_id: pageId, workspace_id: workspaceId, slug, position })),
  );
}

/** Replaces the slugs that a card's description links to. */
export async function setCardPageLinks(
  db: Db,
  workspaceId: string,
  cardId: string,
  slugs: readonly string[],
): Promise<void> {
  await allInOrder([
    rows(db, "delete from card_page_links where card_id = :cardId", { cardId }),
    rows(
      db,
      `insert into card_page_links (card_id, workspace_id, slug, position)
       select :cardId, :workspaceId, slug, place - 1
         from unnest(cast(:slugs as text[])) with ordinality each(slug, place)`,
      { cardId, workspaceId, slugs: [...slugs] },
    ),
  ]);
}
