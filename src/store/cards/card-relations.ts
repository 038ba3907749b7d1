import { column, rows, type Db } from "../db/connect.ts";

/** The tables whose rows a card can have, with the table and the column that join them to cards. */
const JOINS = {
  labels: { table: "card_labels", column: "label_id" },
  pages: { table: "card_pages", column: "page_id" },
} as const;
type Related = keyof typeof JOINS;

/** Returns the ids that the board has, and prevents their deletion until the transaction ends. */
export async function lockRelated(
  db: Db,
  related: Related,
  workspaceId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  return new Set(
    await column<string>(
      db,
      `select id from ${related} where workspace_id = :workspaceId and id = any(:ids) order by id for key share`,
      { workspaceId, ids: [...ids] },
    ),
  );
}

/** Replaces the labels, or the attached pages, of a card. */
export async function setRelated(
  db: Db,
  related: Related,
  cardId: string,
  ids: readonly string[],
): Promise<void> {
  const { table, column: id } = JOINS[related];
  await rows(
    db,
    `with removed as (delete from ${table} where card_id = :cardId and ${id} <> all(cast(:ids as uuid[])))
     insert into ${table} (card_id, ${id}) select :cardId, unnest(cast(:ids as uuid[]))
     on conflict (card_id, ${id}) do nothing`,
    { cardId, ids: [...new Set(ids)] },
  );
}
