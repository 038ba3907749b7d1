import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { BoardSnapshot } from "../api/patch-board.ts";
import { useRead, useRefusals } from "../api/reads.ts";
import type { Blocked, BoardTask, ListedCard } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { fits, isFiltered, type CardSets, type Filters } from "./filters.ts";
import type { MoveStates } from "./moves/move.ts";

/** What `GET /v1/board` lacks about the cards of a project. */
export interface BoardFacts extends CardSets {
  readonly blocked: ReadonlyMap<number, ListedCard>;
  /** When the blocked cards were read. */
  readonly readAt: number;
}

export function useBoardFacts(projectId: string, feature: string | null): BoardFacts {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const blocked = useRefusals(projectId);
  const { data } = useRead(
    keys.cardsOfFeature(projectId, feature ?? ""),
    "GET /v1/cards",
    { query: { projectId, feature: feature ?? "" } },
    { all: true, enabled: feature !== null },
  );
  const ofFeature = useMemo(() => (data ? new Set(data.map(({ number }) => number)) : null), [data]);
  const readAt = queries.getQueryState(keys.refusals(projectId))?.dataUpdatedAt ?? 0;
  return { blocked, readAt, ofFeature };
}

/** The columns with the cards that fit the filters. */
export function filterColumns(
  { columns }: BoardSnapshot,
  filters: Filters,
  sets: CardSets,
): BoardSnapshot["columns"] {
  if (!isFiltered(filters)) return columns;
  return columns.map((column) => ({
    ...column,
    tasks: column.tasks.filter((task) => fits(task, filters, sets)),
  }));
}

/** Why the last move of a card was refused: from the newest read, or from a later response to this page's move. */
export function blockedOf(
  { number, statusId }: BoardTask,
  { blocked, readAt }: BoardFacts,
  states: MoveStates,
): Blocked | null {
  const outcome = states.get(number)?.outcome;
  if (outcome?.state === "refused" && outcome.shownIn === statusId && outcome.at > readAt)
    return outcome.blocked;
  return blocked.get(number)?.blocked ?? null;
}
