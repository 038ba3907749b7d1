import { generateKeyBetween, generateNKeysBetween } from "fractional-indexing";
import { firstRow, rows, type Trx } from "../db/connect.ts";

/** A page among its siblings. All of these are called while the board's pages are held. */
interface Place {
  readonly workspaceId: string;
  readonly parentId: string | null;
  readonly pageId: string;
}

const SIBLINGS = `
  from pages where workspace_id = :workspaceId and parent_id is not distinct from cast(:parentId as uuid) and id <> :pageId`;

/** The rank that puts a page at `index` among the pages below `parentId`, 0 being the first; past the end is the end. */
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

/** The rank that puts a page behind all others below `parentId`. */
export async function pageRankAtEnd(trx: Trx, place: Place): Promise<string> {
  const last = await firstRow<{ rank: string }>(trx, `select rank ${SIBLINGS} order by rank desc limit 1`, {
    ...place,
  });
  return generateKeyBetween(last?.rank ?? null, null);
}

/** Hands the pages below a page to its own parent, where they take its place in the order they had. */
export async function handOnChildren(trx: Trx, pageId: string): Promise<void> {
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
