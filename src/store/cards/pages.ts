import { firstRow, rows, type Db, type Trx } from "../db/connect.ts";

/** A page as the listing shows it. */
export interface PageSummary {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly position: number;
}

export interface PageTask {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly projectId: string;
  readonly statusId: string;
}

/** A page as the API shows it. */
export interface Page extends PageSummary {
  readonly body: string;
  readonly createdBy: string;
  readonly updatedBy: string;
  readonly backlinks: readonly Pick<PageSummary, "id" | "title" | "slug">[];
  readonly dangling: readonly string[];
  readonly tasks: readonly PageTask[];
}

/** The pages of a board as a table of contents: each followed by those below it, in their order. */
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

const BACKLINKS = `
  coalesce((select json_agg(json_build_object('id', o.id, 'title', o.title, 'slug', o.slug) order by lower(o.title), o.id)
              from pages o
             where o.id <> p.id
               and o.id in (select l.page_id from page_slugs s
                              join page_links l on l.workspace_id = s.workspace_id and l.slug = s.slug
                             where s.page_id = p.id)), '[]')`;

const DANGLING = `
  coalesce((select json_agg(l.slug order by l.position) from page_links l
             where l.page_id = p.id
               and not exists (select 1 from page_slugs s
                                where s.workspace_id = l.workspace_id and s.slug = l.slug)), '[]')`;

const TASKS = `
  coalesce((select json_agg(json_build_object('id', c.id, 'number', c.number, 'title', c.title,
                                              'projectId', c.project_id, 'statusId', c.stage_id) order by c.number)
              from cards c
             where c.deleted_at is null
               and c.id in (select cp.card_id from card_pages cp where cp.page_id = p.id
                            union all
                            select l.card_id from page_slugs s
                              join card_page_links l on l.workspace_id = s.workspace_id and l.slug = s.slug
                             where s.page_id = p.id)), '[]')`;

/** The page with this id on this board, or null. */
export async function readPage(db: Db, workspaceId: string, pageId: string): Promise<Page | null> {
  return firstRow<Page>(
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

/** What an action needs to know of a page before it changes it. */
export interface PageHead {
  readonly id: string;
  readonly title: string;
  readonly parentId: string | null;
}

/** The page with this id on this board, or null. */
export async function findPage(db: Db, workspaceId: string, pageId: string): Promise<PageHead | null> {
  return firstRow<PageHead>(
    db,
    `select id, title, parent_id as "parentId" from pages where workspace_id = :workspaceId and id = :pageId`,
    { workspaceId, pageId },
  );
}

/**
 * Holds a board's pages until the transaction ends. Whoever changes a page takes this first: slugs, places among siblings and who stands
 * below whom are about all of them.
 */
export async function holdPages(trx: Trx, workspaceId: string): Promise<void> {
  await trx.raw("select pg_advisory_xact_lock(hashtextextended(?, 0))", [`pages:${workspaceId}`]);
}

export interface NewPage {
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
  await db("pages").insert({
    id: page.id,
    workspace_id: page.workspaceId,
    title: page.title,
    slug: page.slug,
    parent_id: page.parentId,
    rank: page.rank,
    body: page.body,
    created_by: page.createdBy,
    updated_by: page.createdBy,
  });
}

/** Fields a patch may set; an absent one is untouched. */
export interface PageChanges {
  readonly title?: string;
  readonly slug?: string;
  readonly body?: string;
  readonly parentId?: string | null;
  readonly rank?: string;
}

/** Writes the fields that are present, and by whom. */
export async function updatePage(
  db: Db,
  pageId: string,
  { parentId, ...changes }: PageChanges,
  updatedBy: string,
): Promise<void> {
  await db("pages")
    .where({ id: pageId })
    .update({
      ...changes,
      ...(parentId !== undefined && { parent_id: parentId }),
      updated_by: updatedBy,
      updated_at: db.fn.now(),
    });
}

/** Deletes a page that has none below it. Links to it dangle from now on. */
export async function removePage(db: Db, pageId: string): Promise<void> {
  await db("pages").where({ id: pageId }).delete();
}

/** Whether `ancestorId` is `pageId` or stands above it. */
export async function isSelfOrAbove(db: Db, ancestorId: string, pageId: string): Promise<boolean> {
  const found = await firstRow<{ found: boolean }>(
    db,
    `with recursive line (id, parent_id) as (
       select id, parent_id from pages where id = :pageId
       union
       select p.id, p.parent_id from pages p join line l on p.id = l.parent_id)
     select exists (select 1 from line where id = :ancestorId) as found`,
    { ancestorId, pageId },
  );
  return found?.found ?? false;
}
