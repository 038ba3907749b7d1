import { newId } from "../../new-id.ts";
import { firstRow, type Db, type Trx } from "../db/connect.ts";
import type { StoredInboxKind } from "./list-inbox.ts";

export interface NewInboxItem {
  readonly workspaceId: string;
  readonly projectId: string;
  readonly cardId: string | null;
  readonly repositoryId: string | null;
  readonly kind: StoredInboxKind;
  /** Names what the item is about, among those of its kind in its project. */
  readonly naturalKey: string;
  readonly detail: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** When it happened (ISO 8601); the database's time when absent. */
  readonly at?: string | null;
}

/** The natural key of an item about a branch. */
export const branchKey = (repositoryId: string, branchName: string): string =>
  `${repositoryId}:${branchName}`;

/** Puts an item into the inbox; one that is there already under its natural key is brought up to date and keeps its id. */
export async function putInboxItem(db: Db, item: NewInboxItem): Promise<void> {
  await db("inbox_items")
    .insert({
      id: newId(),
      workspace_id: item.workspaceId,
      project_id: item.projectId,
      card_id: item.cardId,
      repository_id: item.repositoryId,
      kind: item.kind,
      natural_key: item.naturalKey,
      detail: item.detail,
      data: JSON.stringify(item.data),
      at: item.at ?? db.fn.now(),
    })
    // The unique index is partial, so the conflict target needs its predicate.
    .onConflict(db.raw("(project_id, kind, natural_key) where dismissed_at is null"))
    .merge(["card_id", "repository_id", "detail", "data", "at"]);
}

/** Whether a project's inbox has an item with this natural key, dismissed or not. */
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

/** A branch suggestion: the branch, and the card its name refers to. */
export interface Suggestion {
  readonly projectId: string;
  readonly cardId: string;
  readonly repositoryId: string;
  readonly branchName: string;
}

/** The suggestion with this id, or null once it was adopted or dismissed. */
export async function findSuggestion(db: Db, itemId: string): Promise<Suggestion | null> {
  return firstRow<Suggestion>(
    db,
    `select project_id as "projectId", card_id as "cardId", repository_id as "repositoryId", data->>'branchName' as "branchName"
       from inbox_items where id = :itemId and kind = 'branch_suggestion' and dismissed_at is null`,
    { itemId },
  );
}

/** Locks an item until the transaction ends; false once it was adopted or dismissed. */
export async function holdInboxItem(trx: Trx, itemId: string): Promise<boolean> {
  return (
    (await firstRow(
      trx,
      "select id from inbox_items where id = :itemId and dismissed_at is null for update",
      { itemId },
    )) !== null
  );
}

/**
 * Removes the items with this natural key, dismissed ones included, or only those that happened at
 * or before `until` (ISO 8601). When the same thing happens again, a new item appears.
 */
export async function forgetInboxItems(
  db: Db,
  kind: StoredInboxKind,
  naturalKey: string,
  until?: string,
): Promise<void> {
  const items = db("inbox_items").where({ kind, natural_key: naturalKey });
  await (until === undefined ? items : items.where("at", "<=", until)).delete();
}

/** Dismisses an item; false when it was dismissed before. */
export async function dismissInboxItem(db: Db, itemId: string, userId: string): Promise<boolean> {
  const dismissed = await db("inbox_items")
    .where({ id: itemId, dismissed_at: null })
    .update({ dismissed_at: db.fn.now(), dismissed_by: userId });
  return dismissed === 1;
}
