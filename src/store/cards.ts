import type { Blocked } from "../flow/blocked.ts";
import type { ChecksState } from "../flow/checks.ts";
import { WITH_PLACE, countColumn } from "./column-counts.ts";
import { firstRow, rows, type Db } from "./connect.ts";
import { STAMP } from "./credentials.ts";
import type { CardLabel } from "./labels.ts";
import type { Presumption } from "./presumption.ts";
import type { User } from "./users.ts";
import { cardColumns, cardFrom, CARD_COLUMNS } from "./shown-card.ts";
import { READS, rowsTogether } from "./together.ts";
import { partOf, rowsToRead, type Part, type Window } from "./window.ts";
import { whileItStands } from "./violations.ts";

export const PRIORITIES = ["none", "low", "medium", "high", "urgent"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** A repository link as the API shows it. */
export interface CardRepository {
  readonly fullName: string;
  readonly branchName: string | null;
  readonly prNumber: number | null;
  readonly prState: "draft" | "open" | "merged" | "closed" | null;
  readonly checksState: ChecksState;
}

/** A card as the API shows it. */
export interface Card {
  readonly id: string;
  readonly projectId: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly statusId: string;
  readonly position: number;
  readonly priority: Priority;
  readonly assignee: User | null;
  readonly labels: readonly CardLabel[];
  readonly createdBy: User;
  readonly blocked: Blocked | null;
  readonly repositories: readonly CardRepository[];
  readonly featureId: string | null;
  readonly parentNumber: number | null;
  readonly dueDate: string | null;
  readonly hotfix: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The card with this number on this board, or null. */
export async function readCard(db: Db, workspaceId: string, number: number): Promise<Card | null> {
  return firstRow<Card>(
    db,
    `select ${CARD_COLUMNS} ${cardFrom("cards")} ${WITH_PLACE}
      where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null`,
    { workspaceId, number },
  );
}

const READ_AS = `
  select ${STAMP} as stamp, case when place.is_stale then c.stage_id end as stale, to_json(shown)::text as card
    ${cardFrom("cards")} ${WITH_PLACE} cross join lateral (select ${CARD_COLUMNS}) shown
   where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null`;

/** The same in JSON, for a call, whose credential the statement settles where there is such a card. */
export async function readCardAs(
  db: Db,
  presumed: Presumption,
  workspaceId: string,
  number: number,
): Promise<string | null> {
  if (!isCardNumber(number)) return null;
  const { clientId } = presumed.credential;
  const question = { sql: READ_AS, bindings: { workspaceId, number, clientId } };
  const [row] = await rowsTogether<{ stamp: string | null; stale: string | null; card: string }>(
    db,
    READS,
    question,
  );
  if (!row) return null;
  const { stamp, stale, card } = row;
  presumed.settle(stamp);
  if (stale !== null) await countColumn(db, stale);
  return card;
}

const BACKLOG = "(select s.id from stages s where s.project_id = :projectId and s.kind = 'backlog')";

/**
 * In a part of the backlog places are counted on from the first: a count for each card would cost its square. No rank ends with 0, so what stands up to one stands before
 * it with a 0.
 */
const BACKLOG_POSITION = `
  row_number() over (order by c.rank) - 1
  + (select place.above from place_in_column(${BACKLOG}, cast(:after as text) || '0') place)`;

/** The drafts of a project, in their order, keyed by rank. */
export async function listBacklog(
  db: Db,
  projectId: string,
  window: Window<string>,
): Promise<Part<Card, string>> {
  const found = await rows<Card & { readonly rank: string }>(
    db,
    `select ${cardColumns(BACKLOG_POSITION)}, c.rank ${cardFrom("cards")}
      where c.stage_id = ${BACKLOG} and c.deleted_at is null and c.rank > :after
      order by c.rank limit :limit`,
    { projectId, after: window.after ?? "", limit: rowsToRead(window) },
  );
  const { items, next } = partOf(found, window, ({ rank }) => rank);
  return { items: items.map(({ rank: _rank, ...card }) => card), next };
}

/** What an action needs to know of a card before it changes it. */
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

/** A `CardHead`, in SQL. */
export const CARD_HEAD = `
  select id, workspace_id as "workspaceId", project_id as "projectId", number, title, description,
         stage_id as "stageId", hotfix, blocked, created_by as "createdBy"
    from cards`;

/** What the column can hold: asking PostgreSQL for a larger number is an error, not an empty answer. */
const MAX_CARD_NUMBER = 2_147_483_647;

export const isCardNumber = (number: number): boolean => number >= 1 && number <= MAX_CARD_NUMBER;

/** The card with this number on this board, or null. */
export async function findCard(db: Db, workspaceId: string, number: number): Promise<CardHead | null> {
  if (!isCardNumber(number)) return null;
  return firstRow<CardHead>(
    db,
    `${CARD_HEAD} where workspace_id = :workspaceId and number = :number and deleted_at is null`,
    { workspaceId, number },
  );
}

/**
 * The card as it is now, its row held until the transaction ends; null once it was deleted. Others may still refer to it, as a
 * child's insert does: holding that up would deadlock with a mover that waits for the child's column.
 */
export async function lockCard(db: Db, cardId: string): Promise<CardHead | null> {
  return firstRow<CardHead>(db, `${CARD_HEAD} where id = :cardId and deleted_at is null for no key update`, {
    cardId,
  });
}

/**
 * Holds the board's family tree until the transaction ends: two cards made each other's parent at the same moment would each see no
 * cycle.
 */
export async function holdParents(db: Db, workspaceId: string): Promise<void> {
  await db.raw("select pg_advisory_xact_lock(hashtextextended(?, 0))", [`parents:${workspaceId}`]);
}

/** The card with this id, or null once it was deleted. */
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

/** The number of the card an earlier try of the same request created, or null. */
export async function findCardOfRequest(
  db: Db,
  workspaceId: string,
  requestId: string,
): Promise<number | null> {
  const found = await firstRow<{ number: number }>(
    db,
    `select number from cards
      where request_id = :requestId and workspace_id = :workspaceId and deleted_at is null
        and created_at > now() - interval '24 hours'`,
    { workspaceId, requestId },
  );
  return found?.number ?? null;
}

export async function insertCard(db: Db, card: NewCard): Promise<void> {
  const inserted = db("cards").insert({
    id: card.id,
    workspace_id: card.workspaceId,
    project_id: card.projectId,
    number: card.number,
    title: card.title,
    description: card.description,
    stage_id: card.stageId,
    rank: card.rank,
    priority: card.priority,
    assignee_id: card.assigneeId,
    parent_id: card.parentId,
    feature_id: card.featureId,
    due_date: card.dueDate,
    hotfix: card.hotfix,
    created_by: card.createdBy,
    request_id: card.requestId,
  });
  await whileItStands(inserted);
}

/** Fields a patch may set; an absent one is untouched, null clears. */
export interface CardChanges {
  readonly title?: string;
  readonly description?: string;
  readonly priority?: Priority;
  readonly assigneeId?: string | null;
  readonly dueDate?: string | null;
  readonly parentId?: string | null;
  readonly featureId?: string | null;
}

const COLUMNS = {
  title: "title",
  description: "description",
  priority: "priority",
  assigneeId: "assignee_id",
  dueDate: "due_date",
  parentId: "parent_id",
  featureId: "feature_id",
} as const satisfies Record<keyof CardChanges, string>;

/** Writes the fields that are present. */
export async function updateCard(db: Db, cardId: string, changes: CardChanges): Promise<void> {
  const columns = Object.entries(COLUMNS)
    .filter(([field]) => changes[field as keyof CardChanges] !== undefined)
    .map(([field, column]) => [column, changes[field as keyof CardChanges]] as const);
  await db("cards")
    .where({ id: cardId })
    .update({ ...Object.fromEntries(columns), updated_at: db.fn.now() });
}

/** Hides a card for good. Its number is not handed out again. */
export async function hideCard(db: Db, cardId: string): Promise<void> {
  await db("cards").where({ id: cardId }).update({ deleted_at: db.fn.now(), blocked: null });
}

/** Whether `ancestorId` is `cardId` or one of its ancestors. */
export async function isSelfOrAncestor(db: Db, ancestorId: string, cardId: string): Promise<boolean> {
  const found = await firstRow<{ found: boolean }>(
    db,
    `with recursive line (id, parent_id) as (
       select id, parent_id from cards where id = :cardId
       union
       select c.id, c.parent_id from cards c join line l on c.id = l.parent_id)
     select exists (select 1 from line where id = :ancestorId) as found`,
    { ancestorId, cardId },
  );
  return found?.found ?? false;
}
