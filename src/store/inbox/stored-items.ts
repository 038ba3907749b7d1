import { newId } from "../../new-id.ts";
import { columnsOf, exists, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import type { StoredInboxKind } from "./list-inbox.ts";

export interface NewInboxItem {
  readonly workspaceId: string;
  readonly projectId: string;
  readonly cardId: string | null;
  readonly repositoryId: string | null;
  readonly kind: StoredInboxKind;
  /** Identifies the subject among the items of this kind in the project. */
  readonly naturalKey: string;
  readonly detail: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** When it happened (ISO 8601); now if absent. */
  readonly at?: string | null;
}

/** The natural key of an item about a branch. */
export const branchKey = (repositoryId: string, branchName: string): string =>
  `${repositoryId}:${branchName}`;

/** Inserts an item, or updates the open item with the same natural key. */
export async function upsertInboxItem(db: Db, item: NewInboxItem): Promise<void> {
  await db("inbox_items")
    .insert(columnsOf({ ...item, id: newId(), data: JSON.stringify(item.data), at: item.at ?? db.fn.now() }))
    // The unique index is partial, so the conflict target needs its predicate.
    .onConflict(db.raw("(project_id, kind, natural_key) where dismissed_at is null"))
    .merge(["card_id", "repository_id", "detail", "data", "at"]);
}

/** Whether the project has such an item, dismissed or not. */
export async function hasInboxItem(
  db: Db,
  projectId: string,
  kind: StoredInboxKind,
  naturalKey: string,
): Promise<boolean> {
  const row = await db("inbox_items")
    .where({ project_id: projectId, kind, natural_key: naturalKey })
    .first("id");
  return row !== undefined;
}

/** A branch and the card that its name refers to. */
export interface Suggestion {
  readonly projectId: string;
  readonly cardId: string;
  readonly repositoryId: string;
  readonly branchName: string;
}

/** Null if the suggestion was adopted or dismissed. */
export async function findSuggestion(db: Db, itemId: string): Promise<Suggestion | null> {
  return firstRow<Suggestion>(
    db,
    `select project_id as "projectId", card_id as "cardId", repository_id as "repositoryId", data->>'branchName' as "branchName"
       from inbox_items where id = :itemId and kind = 'branch_suggestion' and dismissed_at is null`,
    { itemId },
  );
}

/** Locks an item until the transaction ends. False if it was adopted or dismissed. */
export async function lockInboxItem(trx: Trx, itemId: string): Promise<boolean> {
  const item = "select id from inbox_items where id = :itemId and dismissed_at is null for update";
  return exists(trx, item, { itemId });
}

/**
 * Deletes the items with this natural key, dismissed ones included, up to the time `until` (ISO
 * 8601). If the same thing happens again, a new item appears.
 */
export async function deleteInboxItems(
  db: Db,
  kind: StoredInboxKind,
  naturalKey: string,
  until?: string,
): Promise<void> {
  await rows(
    db,
    `delete from inbox_items where kind = :kind and natural_key = :naturalKey
        and at <= coalesce(cast(:until as timestamptz), 'infinity')`,
    { kind, naturalKey, until: until ?? null },
  );
}

/** False if the item is dismissed already. */
export async function dismissInboxItem(db: Db, itemId: string, userId: string): Promise<boolean> {
  const dismissed = await db("inbox_items")
    .where({ id: itemId, dismissed_at: null })
    .update({ dismissed_at: db.fn.now(), dismissed_by: userId });
  return dismissed === 1;
}
