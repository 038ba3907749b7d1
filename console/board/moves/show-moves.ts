import { findCard, placeCard, type BoardSnapshot } from "../../api/patch-board.ts";
import type { MoveStates } from "./move.ts";

/**
 * The board as it will be if all pending moves succeed. The cached board is not changed, so when a move fails, only
 * its own card returns to its stage.
 */
export function showMoves(board: BoardSnapshot, states: MoveStates): BoardSnapshot {
  let shown = board;
  for (const { request, outcome } of states.values()) {
    if (outcome !== null) continue;
    const found = findCard(shown, request.number);
    const isThere = shown.columns.some(({ statusId }) => statusId === request.to.statusId);
    // A draft stays in the backlog, with a notice, while its branch is created.
    if (request.usesGit && !isThere) continue;
    if (found) shown = placeCard(shown, found.task, request.to.statusId, { above: request.to.above });
  }
  return shown;
}

/** The card above another one in its column; null at the top. */
export function cardAbove(board: BoardSnapshot, number: number): number | null {
  const found = findCard(board, number);
  return found?.column.tasks[found.index - 1]?.number ?? null;
}
