import { useEffect, useMemo, useRef } from "react";
import { findCard, type BoardSnapshot } from "../api/patch-board.ts";
import type { Flow } from "../api/schema.d.ts";
import type { BoardActions } from "./board-actions.ts";
import type { Reorder } from "./move-menu.tsx";
import { useForgetMoves } from "./moves/use-move.ts";
import type { useRequestMove } from "./moves/use-request-move.ts";
import type { Drop } from "./use-drag.ts";
import type { Roving } from "./use-roving.ts";

interface Options {
  readonly board: BoardSnapshot;
  readonly stages: Flow["stages"];
  readonly features: ReadonlyMap<string, string>;
  readonly canMove: boolean;
  readonly requests: ReturnType<typeof useRequestMove>;
  readonly openMenu: (number: number | null) => void;
  readonly roving: Roving;
}

/** What cards and drops do, as an object that changes only with the stages and the user's role. */
export function useActions(options: Options): {
  readonly forCards: BoardActions;
  readonly drop: (drop: Drop) => void;
} {
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const forget = useForgetMoves();
  const { stages, features, canMove } = options;
  return useMemo(
    () => ({
      forCards: {
        stages,
        features,
        canMove,
        moveTo: (number, statusId) => latest.current.requests.move(number, statusId, null),
        reorder: (number, to) => {
          const { board, requests } = latest.current;
          const column = findCard(board, number)?.column;
          if (column) requests.move(number, column.statusId, newAbove(board, number, to));
        },
        retry: (request) => latest.current.requests.retry(request),
        dismiss: (number) => {
          forget(number);
          latest.current.roving.focusCard(number);
        },
        openMenu: (number) => latest.current.openMenu(number),
        onFocused: (number) => latest.current.roving.onFocused(number),
      },
      drop: ({ number, statusId, beside }) => {
        const { board, requests } = latest.current;
        requests.move(number, statusId, beside && aboveAt(board, number, beside));
      },
    }),
    [stages, features, canMove, forget],
  );
}

/** The card that a dropped one goes below, also if filters hide it. */
function aboveAt(board: BoardSnapshot, moved: number, { number, isAbove }: NonNullable<Drop["beside"]>) {
  if (isAbove) return number === moved ? neighborOf(board, moved, -1) : number;
  return neighborOf(board, number, -1, moved);
}

/** The card some places before or after another one, without counting `skipped`. */
function neighborOf(board: BoardSnapshot, number: number, by: number, skipped?: number): number | null {
  const tasks = (findCard(board, number)?.column.tasks ?? []).filter((task) => task.number !== skipped);
  return tasks[tasks.findIndex((task) => task.number === number) + by]?.number ?? null;
}

/** The card that one goes below when it moves within its column. */
function newAbove(board: BoardSnapshot, number: number, to: Reorder): number | null {
  const tasks = findCard(board, number)?.column.tasks ?? [];
  switch (to) {
    case "top":
      return null;
    case "up":
      return neighborOf(board, number, -2);
    case "down":
      return neighborOf(board, number, 1) ?? neighborOf(board, number, -1);
    case "bottom":
      return (tasks.at(-1)?.number === number ? tasks.at(-2) : tasks.at(-1))?.number ?? null;
  }
}
