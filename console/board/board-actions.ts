import { createContext, useContext } from "react";
import type { Flow } from "../api/schema.d.ts";
import type { Reorder } from "./move-menu.tsx";
import type { MoveRequest } from "./moves/move.ts";

/** What the cards of a board can do. The object stays the same, so that cards are only drawn when they change. */
export interface BoardActions {
  readonly stages: Flow["stages"];
  /** The names of the board's features, by id. */
  readonly features: ReadonlyMap<string, string>;
  /** Whether the user may move cards at all. */
  readonly canMove: boolean;
  readonly moveTo: (number: number, statusId: string) => void;
  readonly reorder: (number: number, to: Reorder) => void;
  readonly retry: (request: MoveRequest) => void;
  readonly dismiss: (number: number) => void;
  readonly openMenu: (number: number | null) => void;
  readonly onFocused: (number: number) => void;
}

export const BoardActionsContext = createContext<BoardActions | null>(null);

export function useBoardActions(): BoardActions {
  const actions = useContext(BoardActionsContext);
  if (!actions) throw new Error("useBoardActions is used outside of a board");
  return actions;
}
