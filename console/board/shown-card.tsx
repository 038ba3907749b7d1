import type { BoardTask } from "../api/schema.d.ts";
import { BoardCard } from "./board-card.tsx";
import { blockedOf } from "./moves/move.ts";
import type { BoardView } from "./use-board-view.ts";

interface Props {
  readonly view: BoardView;
  readonly task: BoardTask;
}

/** A card with what its page shows about it at the moment. */
export const ShownCard = ({ view: { roving, states, menuFor, requests }, task }: Props) => (
  <BoardCard
    task={task}
    move={states.get(task.number)}
    blocked={blockedOf(task, states)}
    isCurrent={roving.current === task.number}
    isWanted={roving.wanted === task.number}
    isMenuOpen={menuFor === task.number}
    isChecking={requests.planningCard === task.number}
  />
);
