import { useMemo, useState } from "react";
import type { BoardSnapshot } from "../api/patch-board.ts";
import { useRead } from "../api/reads.ts";
import type { Card, Flow } from "../api/schema.d.ts";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { filterColumns, fits, useBoardAddress } from "./filters.ts";
import { usePlans } from "./moves/plan.ts";
import { showMoves } from "./moves/show-moves.ts";
import { useMoveStates } from "./moves/use-move.ts";
import { useRequestMove } from "./moves/use-request-move.ts";
import { useActions } from "./use-actions.ts";
import { useDragMonitor } from "./use-drag.ts";
import { useRoving } from "./use-roving.ts";

interface Options {
  readonly projectId: string;
  /** The columns that the page shows: the stages, or the backlog alone. */
  readonly board: BoardSnapshot;
  /** The same columns, as they are cached at the moment of a move. */
  readonly readBoard: () => BoardSnapshot | undefined;
  readonly stages: Flow["stages"];
}

/** What the page shows at the moment: its cards with pending moves and filters, the focus, the drag and the menu. */
export function useBoardView({ projectId, board, readBoard, stages }: Options) {
  const access = useWorkspace().board;
  const states = useMoveStates();
  const shown = useMemo(() => showMoves(board, states), [board, states]);
  const address = useBoardAddress();
  const columns = filterColumns(shown, address.filters);
  const roving = useRoving(columns.filter(({ statusId }) => !address.collapsed.has(statusId)));
  const requests = useRequestMove({ projectId, readBoard, stages, focusCard: roving.focusCard });
  const canMove = hasRole(access.role, "member");
  const [menuFor, setMenuFor] = useState<number | null>(null);
  const openMenu = (number: number | null): void => {
    if (number !== null) roving.onFocused(number);
    setMenuFor(number);
  };
  const { keys } = useWorkspace();
  const { data: listed } = useRead(keys.list("features"), "GET /v1/features", {}, { all: true });
  const features = useMemo(() => new Map(listed?.map(({ id, name }) => [id, name])), [listed]);
  const actions = useActions({ board, stages, features, canMove, requests, openMenu, roving });
  const onCurrent = (run: (number: number) => void) => () => {
    if (canMove && roving.current !== null) run(roving.current);
  };
  useShortcut("moveCard", onCurrent(openMenu));
  useShortcut(
    "raiseCard",
    onCurrent((number) => actions.forCards.reorder(number, "up")),
  );
  useShortcut(
    "lowerCard",
    onCurrent((number) => actions.forCards.reorder(number, "down")),
  );
  const toast = useToast();
  const noticeIfHidden = (card: Card): void => {
    if (fits(card, address.filters)) return;
    const action = { label: "Clear the filters", run: address.clear };
    toast({ title: `Created card ${card.number}, which the filters hide`, action });
  };
  const dragged = useDragMonitor(actions.drop);
  const plans = usePlans(dragged, dragged === null ? [] : otherStages(board, dragged));
  const totals = new Map(shown.columns.map(({ statusId, tasks }) => [statusId, tasks.length]));
  return {
    states,
    address,
    columns,
    roving,
    requests,
    canMove,
    menuFor,
    actions: actions.forCards,
    dragged,
    plans,
    /** Says that the filters hide a card that was just created, unless they show it. */
    noticeIfHidden,
    /** The cards of each stage without filters. */
    totals,
  };
}

export type BoardView = ReturnType<typeof useBoardView>;

/** The stages that a card is not in. */
const otherStages = ({ columns }: BoardSnapshot, number: number): string[] =>
  columns
    .filter(({ tasks }) => tasks.every((task) => task.number !== number))
    .map(({ statusId }) => statusId);
