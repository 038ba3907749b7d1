import type { Board, BoardTask } from "../../../console/api/schema.d.ts";

/** A card of the board as `GET /v1/board` shows it. */
export const boardTask = (number: number, statusId: string, more: Partial<BoardTask> = {}): BoardTask => ({
  id: `id-${number}`,
  number,
  title: `Card ${number}`,
  projectId: "project",
  statusId,
  priority: "none",
  assignee: null,
  labels: [],
  ...more,
});

/** A column with the cards of these numbers. */
export const boardColumn = (statusId: string, numbers: readonly number[]): Board["columns"][number] => ({
  statusId,
  name: statusId,
  kind: "stage",
  minRole: "member",
  rule: { type: "none", into: null },
  tasks: numbers.map((number) => boardTask(number, statusId)),
});
