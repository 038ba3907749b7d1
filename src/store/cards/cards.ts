import type { Blocked } from "../../flow/refusal.ts";
import { columnOf, exists, firstRow, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { busyIfStageRemoved } from "../db/transaction.ts";
import { JsonText } from "../db/json-text.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { CREDENTIAL_VERSION, type CachedCredential } from "../tenancy/credentials.ts";
import {
  cardColumns,
  cardFrom,
  CARD_COLUMNS,
  OPTIONAL_COLUMNS,
  shownCard,
  type OptionalColumns,
} from "./card-columns.ts";
import { CARD_ARMED } from "./armed-moves.ts";
import { CARD_CLAIM } from "./claim-columns.ts";

export const PRIORITIES = ["none", "low", "medium", "high", "urgent"] as const;
export type Priority = (typeof PRIORITIES)[number];

const SHOWN_CARD = `
  ${cardFrom("cards")}
   where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null`;

/** The JSON of the card in `SHOWN_CARD`. */
const CARD_JSON = `
  left((select to_json(shown) from (select ${CARD_COLUMNS}) shown)::text, -1)
    || coalesce(',"claim":' || ${CARD_CLAIM}::text, '')
    || coalesce(',"armed":' || ${CARD_ARMED}::text, '') || '}'`;

/** The card that the transaction has changed, as the API shows it. */
export async function readChangedCard(trx: Trx, workspaceId: string, number: number): Promise<JsonText> {
  const card = await firstValue<string>(trx, `select ${CARD_JSON} as card ${SHOWN_CARD}`, {
    workspaceId,
    number,
  });
  if (card === null) throw new Error(`There is no card ${number} on the board ${workspaceId}.`);
  return new JsonText(card);
}

const READ_CARD = `
  select ${CREDENTIAL_VERSION} as version, ${CARD_JSON} as card,
         (select f.head from feeds f where f.workspace_id = c.workspace_id) as "feedSeq" ${SHOWN_CARD}`;

/**
 * The card and the newest event of the feed at that time, or null. The same statement
 * confirms the credential.
 */
export async function readCard(
  db: Db,
  cached: CachedCredential,
  workspaceId: string,
  number: number,
): Promise<{ readonly card: JsonText; readonly feedSeq: number } | null> {
  if (!isCardNumber(number)) return null;
  const row = await firstRow<{ version: string | null; card: string; feedSeq: number }>(db, READ_CARD, {
    workspaceId,
    number,
    clientId: cached.credential.clientId,
  });
  if (!row) return null;
  cached.confirmVersion(row.version);
  const { card, feedSeq } = row;
  return { card: new JsonText(card), feedSeq };
}

const BACKLOG = "(select s.id from stages s where s.project_id = :projectId and s.kind = 'backlog')";

/** Positions in a part of the backlog continue from its first card; a count for each card would take quadratic time. */
const BACKLOG_POSITION = `
  row_number() over (order by c.rank) - 1
  + (select count(*) from cards above
      where above.stage_id = ${BACKLOG} and above.deleted_at is null and above.rank <= :after)`;

/** Lists the backlog of a project in order. The key is the rank. */
export async function listBacklog(
  db: Db,
  projectId: string,
  window: ListWindow<string>,
): Promise<ListSlice<object, string>> {
  const { items, next } = await readPage<{ readonly rank: string } & OptionalColumns, string>(db, window, {
    sql: `select ${cardColumns(BACKLOG_POSITION)}, ${OPTIONAL_COLUMNS}, c.rank ${cardFrom("cards")}
      where c.stage_id = ${BACKLOG} and c.deleted_at is null and c.rank > :after
      order by c.rank`,
    bindings: { projectId, after: window.after ?? "" },
    bytes: "octet_length(description)",
    keyOf: ({ rank }) => rank,
  });
  return { items: items.map(({ rank: _rank, ...card }) => shownCard(card)), next };
}

/** What an action reads of a card before it changes it. */
export interface CardHead {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly stageId: string;
  readonly hotfix: boolean;
  readonly blocked: Blocked | null;
  readonly createdBy: string;
}

export const CARD_HEAD = `
  select id, workspace_id as "workspaceId", project_id as "projectId", number, title, description,
         stage_id as "stageId", hotfix, blocked, created_by as "createdBy"
    from cards`;

/** PostgreSQL reports an error for a larger number. */
const MAX_CARD_NUMBER = 2_147_483_647;

export const isCardNumber = (number: number): boolean => number >= 1 && number <= MAX_CARD_NUMBER;

export async function findCard(db: Db, workspaceId: string, number: number): Promise<CardHead | null> {
  if (!isCardNumber(number)) return null;
  return firstRow<CardHead>(
    db,
    `${CARD_HEAD} where workspace_id = :workspaceId and number = :number and deleted_at is null`,
    { workspaceId, number },
  );
}

/**
 * Locks a card until the transaction ends. Null if it is deleted. Other transactions may still
 * insert its children: blocking them would deadlock with a move that waits for the child's column.
 */
export async function lockCard(db: Db, cardId: string): Promise<CardHead | null> {
  return firstRow<CardHead>(db, `${CARD_HEAD} where id = :cardId and deleted_at is null for no key update`, {
    cardId,
  });
}

/**
 * Locks the parents of a board's cards until the transaction ends. Otherwise two concurrent changes
 * could create a cycle that neither sees.
 */
export async function lockParents(trx: Trx, workspaceId: string): Promise<void> {
  await lockName(trx, `parents:${workspaceId}`);
}

export async function findCardById(db: Db, cardId: string): Promise<CardHead | null> {
  return firstRow<CardHead>(db, `${CARD_HEAD} where id = :cardId and deleted_at is null`, { cardId });
}

export interface NewCard {
  readonly id: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly stageId: string;
  readonly rank: string;
  readonly priority: Priority;
  readonly assigneeId: string | null;
  readonly parentId: string | null;
  readonly featureId: string | null;
  readonly dueDate: string | null;
  readonly hotfix: boolean;
  readonly createdBy: string;
  readonly requestId: string;
}

/** The card that an earlier attempt of the same request created, or null. */
export async function findCardOfRequest(
  db: Db,
  workspaceId: string,
  requestId: string,
): Promise<CardHead | null> {
  return firstRow<CardHead>(
    db,
    `${CARD_HEAD} where request_id = :requestId and workspace_id = :workspaceId and deleted_at is null
        and created_at > now() - interval '24 hours'`,
    { workspaceId, requestId },
  );
}

const INSERT_CARD = `
  insert into cards (id, workspace_id, project_id, number, title, description, stage_id, rank, priority, assignee_id,
                     parent_id, feature_id, due_date, hotfix, created_by, request_id)
  values (:id, :workspaceId, :projectId, :number, :title, :description, :stageId, :rank, :priority, :assigneeId,
          :parentId, :featureId, :dueDate, :hotfix, :createdBy, :requestId)`;

export async function insertCard(trx: Trx, card: NewCard): Promise<void> {
  await busyIfStageRemoved(rows(trx, INSERT_CARD, { ...card }));
}

/** An absent field is not changed; null clears it. */
export interface CardChanges {
  readonly title?: string;
  readonly description?: string;
  readonly priority?: Priority;
  readonly assigneeId?: string | null;
  readonly dueDate?: string | null;
  readonly parentId?: string | null;
  readonly featureId?: string | null;
}

/** Updates the fields that are present. */
export async function saveCardFields(trx: Trx, cardId: string, changes: CardChanges): Promise<void> {
  const fields = Object.keys(changes).map((field) => `${columnOf(field)} = :${field}`);
  const assignments = ["updated_at = now()", ...fields];
  await rows(trx, `update cards set ${assignments.join(", ")} where id = :cardId`, { ...changes, cardId });
}

/** Marks a card as deleted. Its number is not used again. */
export async function markCardDeleted(db: Db, cardId: string): Promise<void> {
  await db("cards").where({ id: cardId }).update({ deleted_at: db.fn.now(), blocked: null });
}

/** Whether `ancestorId` is the card or page with the id `id`, or one of its ancestors. */
export async function isSelfOrAncestor(
  db: Db,
  table: "cards" | "pages",
  ancestorId: string,
  id: string,
): Promise<boolean> {
  return exists(
    db,
    `with recursive line (id, parent_id) as (
       select id, parent_id from ${table} where id = :id
       union
       select p.id, p.parent_id from ${table} p join line l on p.id = l.parent_id)
     select 1 from line where id = :ancestorId`,
    { ancestorId, id },
  );
}
