import { atOnce, doAtOnce, type AtOnce, type KeyedRequest } from "./at-once.ts";
import { isCardNumber, type CardChanges } from "./cards.ts";
import type { Db } from "./connect.ts";
import { shownCard } from "./shown-card.ts";

/** The fields of a card that one statement can set. */
export type PlainChanges = Pick<CardChanges, "title" | "priority" | "dueDate" | "assigneeId">;

export interface CardUpdate {
  readonly workspaceId: string;
  readonly number: number;
  readonly changes: PlainChanges;
  readonly eventId: string;
  readonly actorId: string;
  /** What the timeline says was changed. */
  readonly fields: readonly string[];
}

/** On a card that is there, and with an assignee who is a member of its board. */
const UPDATE_AT_ONCE = atOnce(
  `changed as (
     update cards c
        set title = coalesce(:title, c.title), priority = coalesce(:priority, c.priority),
            due_date = case when :setsDueDate then cast(:dueDate as date) else c.due_date end,
            assignee_id = case when :setsAssignee then cast(:assigneeId as uuid) else c.assignee_id end, updated_at = now()
       from free
      where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null
        and (cast(:assigneeId as uuid) is null
             or exists (select 1 from memberships m where m.workspace_id = :workspaceId and m.user_id = cast(:assigneeId as uuid)))
     returning c.*),
   told as (
     insert into timeline_items (id, card_id, type, kind, actor_id, data)
     select :eventId, changed.id, 'event', 'updated', :actorId, jsonb_build_object('fields', cast(:fields as text[])) from changed),
   answer as (${shownCard("changed")})`,
  200,
);

/** Sets fields of a card and tells of it, with the answer. */
export async function updateCardAtOnce(db: Db, request: KeyedRequest, update: CardUpdate): Promise<AtOnce> {
  const { changes, fields, ...bindings } = update;
  if (!isCardNumber(update.number)) return null;
  const company = { group: `update ${update.workspaceId}`, order: update.number };
  return doAtOnce(db, UPDATE_AT_ONCE, 200, request, company, {
    ...bindings,
    fields: [...fields],
    title: changes.title ?? null,
    priority: changes.priority ?? null,
    dueDate: changes.dueDate ?? null,
    setsDueDate: changes.dueDate !== undefined,
    assigneeId: changes.assigneeId ?? null,
    setsAssignee: changes.assigneeId !== undefined,
  });
}
