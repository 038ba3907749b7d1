import type { Board, BoardTask, Card, Event } from "./schema.d.ts";

/** A board with the newest event that it contains. */
export type BoardSnapshot = Board & { readonly feedSeq: number };

type Column = Board["columns"][number];

/** Where a card is placed: below another card, or at an index. */
export type Place = { readonly above: number | null } | { readonly index: number };

/** The card of a board and its column; null if the board does not show it. */
export function findCard(
  board: Board,
  number: number,
): { task: BoardTask; column: Column; index: number } | null {
  for (const column of board.columns) {
    const index = column.tasks.findIndex((task) => task.number === number);
    const task = column.tasks[index];
    if (task) return { task, column, index };
  }
  return null;
}

/** The board without a card. The same object if it has no such card. */
export function removeCard<B extends Board>(board: B, number: number): B {
  const found = findCard(board, number);
  if (!found) return board;
  const tasks = found.column.tasks.filter((task) => task.number !== number);
  return withColumn(board, { ...found.column, tasks });
}

/** The board with a card at a place of a column, and in no other column. Other cards keep their order. */
export function placeCard<B extends Board>(board: B, task: BoardTask, statusId: string, place: Place): B {
  const before = findCard(board, task.number);
  const rest = removeCard(board, task.number);
  const column = rest.columns.find((each) => each.statusId === statusId);
  if (!column) return rest;
  const index = indexOf(column.tasks, place);
  const isUnchanged = before?.column.statusId === statusId && before.index === index && before.task === task;
  if (isUnchanged) return board;
  const placed = task.statusId === statusId ? task : { ...task, statusId };
  return withColumn(rest, { ...column, tasks: column.tasks.toSpliced(index, 0, placed) });
}

/** The board with a card as read from the service, at the position that it has there. */
export const putCard = <B extends Board>(board: B, card: Card): B =>
  placeCard(board, taskOf(card), card.statusId, { index: card.position });

/**
 * The board with the fields of a card as read from the service. Its place in a column is known from events: a position
 * counts cards that the board may not have yet.
 */
export function updateCard<B extends Board>(board: B, card: Card): B {
  const found = findCard(board, card.number);
  if (found?.column.statusId !== card.statusId) return putCard(board, card);
  return withTask(board, found.column, taskOf(card));
}

/** The board with a card that it does not have yet, at the place and with the title of an event about it. */
export function addCard<B extends Board>(board: B, { kind, card, data }: Event, projectId: string): B {
  const target = targetOf(kind, data);
  if (!card || !target || findCard(board, card.number)) return board;
  const { number, title } = card;
  const { statusId, above } = target;
  const rest = { priority: "none", assignee: null, labels: [] } as const;
  return placeCard(board, { id: `new-${number}`, number, title, projectId, statusId, ...rest }, statusId, {
    above,
  });
}

function taskOf(card: Card): BoardTask {
  const { id, number, title, projectId, statusId, priority, assignee, labels, claim, armed, ...rest } = card;
  const { repositories, blocked, dueDate, parentNumber, featureId, children, commentCount, updatedAt } = rest;
  const task = {
    id,
    number,
    title,
    projectId,
    statusId,
    priority,
    assignee,
    labels,
    ...(claim && { claim }),
  };
  return {
    ...task,
    repositories,
    blocked,
    armed: armed ? { statusId: armed.statusId, waitingFor: armed.waitingFor } : null,
    dueDate,
    parentNumber,
    featureId,
    children,
    commentCount,
    updatedAt,
  };
}

/**
 * Applies an event that moves a card. Null if the card has to be read: the event does not move it,
 * or the board does not have it.
 * Applying it again changes nothing, so an event about an own move that is already shown has no effect.
 */
export function applyMove<B extends Board>(board: B, { kind, card, data }: Event): B | null {
  if (!card) return board;
  const found = findCard(board, card.number);
  const target = targetOf(kind, data);
  if (!target) return null;
  if (!board.columns.some(({ statusId }) => statusId === target.statusId))
    return removeCard(board, card.number);
  return found ? placeCard(board, found.task, target.statusId, { above: target.above }) : null;
}

function targetOf(kind: string, data: Event["data"]): { statusId: string; above: number | null } | null {
  if (kind === "status_changed" && "above" in data) {
    return { statusId: String(data["to"]), above: data["above"] as number | null };
  }
  if (kind !== "card_reordered") return null;
  return { statusId: String(data["statusId"]), above: (data["to"] as { above: number | null }).above };
}

function indexOf(tasks: readonly BoardTask[], place: Place): number {
  if ("index" in place) return Math.min(place.index, tasks.length);
  if (place.above === null) return 0;
  const above = tasks.findIndex(({ number }) => number === place.above);
  return above < 0 ? tasks.length : above + 1;
}

const withTask = <B extends Board>(board: B, column: Column, task: BoardTask): B =>
  withColumn(board, {
    ...column,
    tasks: column.tasks.map((each) => (each.number === task.number ? task : each)),
  });

const withColumn = <B extends Board>(board: B, column: Column): B => ({
  ...board,
  columns: board.columns.map((each) => (each.statusId === column.statusId ? column : each)),
});
