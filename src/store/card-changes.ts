import { atOnce, atOnceOfSeveral, doAtOnce, sideBySide, type AtOnce, type KeyedRequest } from "./at-once.ts";
import { isCardNumber, type CardChanges } from "./cards.ts";
import type { Db, Question } from "./connect.ts";

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

const GIVEN = [
  "workspaceId",
  "number",
  "title",
  "priority",
  "dueDate",
  "setsDueDate",
  "assigneeId",
  "setsAssignee",
  "eventId",
  "actorId",
  "fields",
];
const UPDATE_AT_ONCE = atOnce("update_card", GIVEN);
const UPDATE_SEVERAL = atOnceOfSeveral("update_cards", GIVEN);

/** Changes of one board's cards in one statement: of sixteen that come together each takes PostgreSQL 0.6 of what it does by itself. */
const asOne = (updates: readonly Question["bindings"][]): Question => ({
  sql: UPDATE_SEVERAL,
  bindings: {
    ...sideBySide(updates, ["workspaceId"]),
    // PostgreSQL's arrays of arrays are all of one length.
    fields: updates.map(({ fields }) => JSON.stringify(fields)),
  },
});

/** Sets fields of a card and tells of it, with the answer. */
export async function updateCardAtOnce(db: Db, request: KeyedRequest, update: CardUpdate): Promise<AtOnce> {
  const { workspaceId, number, changes, eventId, actorId, fields } = update;
  if (!isCardNumber(number)) return null;
  const company = {
    group: `update ${workspaceId}`,
    order: number,
    apart: String(number),
    asOne,
  };
  return doAtOnce(db, UPDATE_AT_ONCE, 200, request, company, {
    workspaceId,
    number,
    eventId,
    actorId,
    fields,
    title: changes.title ?? null,
    priority: changes.priority ?? null,
    dueDate: changes.dueDate ?? null,
    setsDueDate: changes.dueDate !== undefined,
    assigneeId: changes.assigneeId ?? null,
    setsAssignee: changes.assigneeId !== undefined,
  });
}
