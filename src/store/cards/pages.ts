import { generateKeyBetween, generateNKeysBetween } from "fractional-indexing";
import { columnsOf, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { LINKED_PAGE, MISSING_SLUG } from "./page-links.ts";

/** A page among its siblings. The caller has locked the board's pages. */
interface Place {
  readonly workspaceId: string;
  readonly parentId: string | null;
  readonly pageId: string;
}

const SIBLINGS = `
  from pages where workspace_id = :workspaceId and parent_id is not distinct from cast(:parentId as uuid) and id <> :pageId`;

/** The rank for the place `index` (0 is first) among the pages below `parentId`, or at the end. */
export async function pageRankAt(trx: Trx, place: Place, index: number): Promise<string> {
  if (index > 0) {
    const [before, after] = await rows<{ rank: string }>(
      trx,
      `select rank ${SIBLINGS} order by rank offset :offset limit 2`,
      { ...place, offset: index - 1 },
    );
    if (before) return generateKeyBetween(before.rank, after?.rank ?? null);
    return pageRankAtEnd(trx, place);
  }
  const first = await firstRow<{ rank: string }>(trx, `select rank ${SIBLINGS} order by rank limit 1`, {
    ...place,
  });
  return generateKeyBetween(null, first?.rank ?? null);
}

/** The rank after all other pages below `parentId`. */
export async function pageRankAtEnd(trx: Trx, place: Place): Promise<string> {
  const last = await firstRow<{ rank: string }>(trx, `select rank ${SIBLINGS} order by rank desc limit 1`, {
    ...place,
  });
  return generateKeyBetween(last?.rank ?? null, null);
}

/** Moves the children of a page, in order, to its parent, behind the page. */
export async function moveChildrenToParent(trx: Trx, pageId: string): Promise<void> {
  const children = await rows<{ id: string }>(
    trx,
    "select id from pages where parent_id = :pageId order by rank",
    { pageId },
  );
  if (children.length === 0) return;
  const between = await firstRow<{ rank: string; next: string | null }>(
    trx,
    `select p.rank, (select min(s.rank) from pages s
                      where s.workspace_id = p.workspace_id and s.parent_id is not distinct from p.parent_id
                        and s.rank > p.rank) as next
       from pages p where p.id = :pageId`,
    { pageId },
  );
  const ranks = generateNKeysBetween(between?.rank ?? null, between?.next ?? null, children.length);
  await trx.raw(
    `update pages c set parent_id = p.parent_id, rank = moved.rank
       from pages p, unnest(cast(:ids as uuid[]), cast(:ranks as text[])) as moved (id, rank)
      where p.id = :pageId and c.id = moved.id`,
    { pageId, ids: children.map(({ id }) => id), ranks },
  );
}

interface PageSummary {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly position: number;
}

/** Lists the pages of a board in order, each followed by the pages below it. */
export async function listPages(db: Db, workspaceId: string): Promise<PageSummary[]> {
  const pages = await rows<Omit<PageSummary, "position">>(
    db,
    `select id, title, slug, parent_id as "parentId" from pages where workspace_id = :workspaceId order by rank`,
    { workspaceId },
  );
  const below = new Map<string | null, PageSummary[]>();
  for (const page of pages) {
    const siblings = below.get(page.parentId) ?? [];
    siblings.push({ ...page, position: siblings.length });
    below.set(page.parentId, siblings);
  }
  const contents: PageSummary[] = [];
  const waiting = (below.get(null) ?? []).toReversed();
  for (let page = waiting.pop(); page; page = waiting.pop()) {
    contents.push(page);
    for (const child of (below.get(page.id) ?? []).toReversed()) waiting.push(child);
  }
  return contents;
}

/** SQL for the pages or cards that link to the page `p`. */
const LINKS_TO = (table: "page_links" | "card_page_links", of: "page_id" | "card_id"): string => `
  select l.${of} from page_slugs s
    join ${table} l on l.workspace_id = s.workspace_id and (l.slug = s.slug or l.page_slug = s.slug)
   where s.page_id = p.id and ${LINKED_PAGE} = p.id`;

const BACKLINKS = `
  coalesce((select json_agg(json_build_object('id', o.id, 'title', o.title, 'slug', o.slug) order by lower(o.title), o.id)
              from pages o
             where o.id <> p.id
               and o.id in (${LINKS_TO("page_links", "page_id")})), '[]')`;

const DANGLING = `
  coalesce((select json_agg(d.slug order by d.position)
              from (select ${MISSING_SLUG} as slug, min(l.position) as position from page_links l
                     where l.page_id = p.id and ${LINKED_PAGE} is null group by 1) d), '[]')`;

const TASKS = `
  coalesce((select json_agg(json_build_object('id', c.id, 'number', c.number, 'title', c.title,
                                              'projectId', c.project_id, 'statusId', c.stage_id) order by c.number)
              from cards c
             where c.deleted_at is null
               and c.id in (select cp.card_id from card_pages cp where cp.page_id = p.id
                            union all
                            ${LINKS_TO("card_page_links", "card_id")})), '[]')`;

/** A page as the API shows it. */
interface PageEntry {
  readonly id: string;
  readonly body: string;
}

export async function readPage(db: Db, workspaceId: string, pageId: string): Promise<PageEntry | null> {
  return firstRow<PageEntry>(
    db,
    `select p.id, p.title, p.slug, p.parent_id as "parentId",
            (select count(*) from pages above
              where above.workspace_id = p.workspace_id and above.parent_id is not distinct from p.parent_id
                and above.rank < p.rank) as position,
            p.body, c.name as "createdBy", u.name as "updatedBy",
            ${BACKLINKS} as backlinks, ${DANGLING} as dangling, ${TASKS} as tasks
       from pages p
       join users c on c.id = p.created_by
       join users u on u.id = p.updated_by
      where p.workspace_id = :workspaceId and p.id = :pageId`,
    { workspaceId, pageId },
  );
}

/** What an action reads of a page before it changes it. */
export interface PageHead {
  readonly id: string;
  readonly title: string;
  readonly parentId: string | null;
}

export async function findPage(db: Db, workspaceId: string, pageId: string): Promise<PageHead | null> {
  return firstRow<PageHead>(
    db,
    `select id, title, parent_id as "parentId" from pages where workspace_id = :workspaceId and id = :pageId`,
    { workspaceId, pageId },
  );
}

/**
 * Locks a board's pages until the transaction ends. Each change of a page takes this lock, because
 * slugs, ranks and parents depend on other pages.
 */
export async function lockPages(trx: Trx, workspaceId: string): Promise<void> {
  await lockName(trx, `pages:${workspaceId}`);
}

interface NewPage {
  readonly id: string;
  readonly workspaceId: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly rank: string;
  readonly body: string;
  readonly createdBy: string;
}

export async function insertPage(db: Db, page: NewPage): Promise<void> {
  await rows(
    db,
    `insert into pages (id, workspace_id, title, slug, parent_id, rank, body, created_by, updated_by)
     values (:id, :workspaceId, :title, :slug, :parentId, :rank, :body, :createdBy, :createdBy)`,
    { ...page },
  );
}

export interface PageChanges {
  readonly title?: string;
  readonly slug?: string;
  readonly body?: string;
  readonly parentId?: string | null;
  readonly rank?: string;
}

/** Updates the fields that are present. */
export async function updatePage(
  db: Db,
  pageId: string,
  changes: PageChanges,
  updatedBy: string,
): Promise<void> {
  await db("pages")
    .where({ id: pageId })
    .update(columnsOf({ ...changes, updatedBy, updatedAt: db.fn.now() }));
}

/** Deletes a page without children. Links to it remain as dangling links. */
export async function removePage(db: Db, pageId: string): Promise<void> {
  await db("pages").where({ id: pageId }).delete();
}
