import type { WikiLink } from "../../flow/wiki-links.ts";
import { column, rows, type Db } from "../db/connect.ts";
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

/**
 * SQL for the id of the page that the link `l` leads to; a slug may be an earlier one. A page whose
 * title has a `#` comes before a heading of another page.
 */
export const LINKED_PAGE = `coalesce(
  (select s.page_id from page_slugs s join pages t on t.id = s.page_id
    where s.workspace_id = l.workspace_id and s.slug = l.slug
      and (l.page_slug is null or strpos(t.title, '#') > 0)),
  (select s.page_id from page_slugs s where s.workspace_id = l.workspace_id and s.slug = l.page_slug))`;

/** SQL: the slug of a page to which the link `l` leads if there is such a page. */
export const MISSING_SLUG = "coalesce(l.page_slug, l.slug)";

/** Returns for each link the id of its page, or null, and the slug of a page that it leads to. */
export async function resolveLinks(
  db: Db,
  workspaceId: string,
  links: readonly WikiLink[],
): Promise<{ readonly pageId: string | null; readonly slug: string }[]> {
  return rows(
    db,
    `select found."pageId", coalesce(p.slug, found.slug) as slug
       from (select l.place, ${MISSING_SLUG} as slug, ${LINKED_PAGE} as "pageId"
               from (select cast(:workspaceId as uuid) as workspace_id, given.*
                       from unnest(cast(:slugs as text[]), cast(:pageSlugs as text[]))
                            with ordinality given(slug, page_slug, place)) l) found
       left join pages p on p.id = found."pageId"
      order by found.place`,
    {
      workspaceId,
      slugs: links.map(({ slug }) => slug),
      pageSlugs: links.map(({ pageSlug }) => pageSlug),
    },
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

/** Replaces the links of a page's body. */
export async function setPageLinks(
  db: Db,
  workspaceId: string,
  pageId: string,
  links: readonly WikiLink[],
): Promise<void> {
  await db("page_links").where({ page_id: pageId }).delete();
  if (links.length === 0) return;
  await db("page_links").insert(
    links.map(({ slug, pageSlug }, position) => ({
      page_id: pageId,
      workspace_id: workspaceId,
      slug,
      page_slug: pageSlug,
      position,
    })),
  );
}

/** Replaces the links of a card's description. */
export async function setCardPageLinks(
  db: Db,
  workspaceId: string,
  cardId: string,
  links: readonly WikiLink[],
): Promise<void> {
  await allInOrder([
    rows(db, "delete from card_page_links where card_id = :cardId", { cardId }),
    rows(
      db,
      `insert into card_page_links (card_id, workspace_id, slug, page_slug, position)
       select :cardId, :workspaceId, slug, page_slug, place - 1
         from unnest(cast(:slugs as text[]), cast(:pageSlugs as text[]))
              with ordinality each(slug, page_slug, place)`,
      {
        cardId,
        workspaceId,
        slugs: links.map(({ slug }) => slug),
        pageSlugs: links.map(({ pageSlug }) => pageSlug),
      },
    ),
  ]);
}
