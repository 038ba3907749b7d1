import { findCard, type BoardSnapshot } from "../../api/patch-board.ts";
import type { Flow } from "../../api/schema.d.ts";
import { requestTo, type MoveRequest } from "./move.ts";
import { cardAbove } from "./show-moves.ts";
import { useAskMove } from "./use-ask-move.ts";

type Stage = Flow["stages"][number];

interface Options {
  readonly projectId: string;
  /** The columns on the page, as they are cached. */
  readonly readBoard: () => BoardSnapshot | undefined;
  readonly stages: readonly Stage[];
  readonly focusCard: (number: number) => void;
}

/** Moves cards between the places of a page with columns. The card has the focus afterwards. */
export function useRequestMove({ projectId, readBoard, stages, focusCard }: Options) {
  const { ask, ...asking } = useAskMove({
    projectId,
    stages,
    onStep: ({ number }, outcome) => {
      const isMoved = outcome !== null && outcome !== "sent" && outcome.state === "moved";
      // The element that a dialog returns the focus to may be gone.
      if (!isMoved || document.activeElement === document.body) focusCard(number);
    },
    undoOf: ({ number, from, to }) => {
      const before = stages.find(({ id }) => id === from.statusId);
      // A card that goes back into a stage that merges may merge.
      if (before === undefined || before.rule.type === "merge") return undefined;
      return { label: "Undo", run: () => move(number, from.statusId, from.above, to) };
    },
  });
  /**
   * Moves a card below `above`, or to the top of the column. `from` is where the card is expected, by default its place
   * on the board.
   */
  const move = (number: number, statusId: string, above: number | null, from?: MoveRequest["from"]): void => {
    const board = readBoard();
    const stage = stages.find(({ id }) => id === statusId);
    const request = board && stage && describeMove(board, { number, stage, above, from });
    if (request) void ask(request);
  };
  const retry = ({ outcomeBeforeCall: _known, ...again }: MoveRequest): void => void ask(again);
  return { move, retry, ...asking };
}

interface Wanted {
  readonly number: number;
  readonly stage: Stage;
  readonly above: number | null;
  readonly from: MoveRequest["from"] | undefined;
}

/** The request of a move; null if the card is there already. */
function describeMove(board: BoardSnapshot, wanted: Wanted): MoveRequest | null {
  const { number, stage, above } = wanted;
  const found = findCard(board, number);
  const shown = found && { statusId: found.column.statusId, above: cardAbove(board, number) };
  const from = wanted.from ?? shown;
  if (!from) return null;
  const isSameStage = from.statusId === stage.id;
  if (isSameStage && (from.above === above || above === number)) return null;
  const column = board.columns.find(({ statusId }) => statusId === stage.id);
  const others = (column?.tasks ?? []).filter((task) => task.number !== number);
  const index = above === null ? 0 : others.findIndex((task) => task.number === above) + 1;
  return {
    number,
    from: { statusId: from.statusId, above: from.above },
    to: { statusId: stage.id, above, index: above !== null && index === 0 ? others.length : index },
    ...requestTo(stage, { statusId: from.statusId, repositories: found?.task.repositories }),
    key: crypto.randomUUID(),
  };
}
