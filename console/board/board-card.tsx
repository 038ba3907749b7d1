import { memo, useEffect, useRef } from "react";
import type { Blocked, BoardTask } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { cardFacts } from "../card-chip/card-facts.ts";
import { CardChip } from "../card-chip/card-chip.tsx";
import { useBoardActions } from "./board-actions.ts";
import { CardNotice } from "./card-notice.tsx";
import { MoveMenu } from "./move-menu.tsx";
import { factContext } from "./details/fact-context.ts";
import type { MoveState } from "./moves/move.ts";
import { useCardDrag } from "./use-drag.ts";

export interface BoardCardProps {
  readonly task: BoardTask;
  readonly move: MoveState | undefined;
  readonly blocked: Blocked | null;
  /** Whether Tab reaches this card. */
  readonly isCurrent: boolean;
  /** Whether it takes the focus. */
  readonly isWanted: boolean;
  readonly isMenuOpen: boolean;
  /** Whether its plan is being read. */
  readonly isChecking: boolean;
}

/** A card of the board: it can be dragged, has a menu of moves, and shows how its newest move ended. */
export const BoardCard = memo(function BoardCard(props: BoardCardProps) {
  const { task, move, blocked, isCurrent, isWanted, isMenuOpen, isChecking } = props;
  const { number, statusId } = task;
  const { base } = useWorkspace();
  const actions = useBoardActions();
  const element = useRef<HTMLDivElement>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const isPending = move?.outcome === null;
  const edge = useCardDrag(element, number, actions.canMove && !isPending && !isChecking);
  useEffect(() => {
    if (isWanted) link.current?.focus();
  }, [isWanted]);
  const nameOf = (id: string | undefined): string | undefined =>
    actions.stages.find((stage) => stage.id === id)?.name;
  return (
    <div
      className="board-card"
      ref={element}
      data-card={number}
      data-edge={edge ?? undefined}
      data-pending={(isPending && move.request.usesGit) || undefined}
    >
      <CardChip
        task={task}
        href={`${base}/cards/${number}`}
        blocked={isPending ? null : blocked}
        facts={cardFacts(task, factContext(actions, task))}
        refusedBy={nameOf(blocked?.statusId)}
        link={{
          ref: link,
          tabIndex: isCurrent ? 0 : -1,
          draggable: false,
          onFocus: () => actions.onFocused(number),
        }}
        notice={
          <CardNotice
            move={move}
            number={number}
            statusId={statusId}
            isChecking={isChecking}
            isBlocked={blocked !== null}
            fromName={nameOf(move?.request.from.statusId)}
            onRetry={() => move && actions.retry(move.request)}
            onDismiss={() => actions.dismiss(number)}
          />
        }
      />
      {actions.canMove && (
        <MoveMenu
          task={task}
          stages={actions.stages}
          open={isMenuOpen}
          onOpenChange={(isOpen) => actions.openMenu(isOpen ? number : null)}
          onMove={(to) => actions.moveTo(number, to)}
          onReorder={(to) => actions.reorder(number, to)}
        />
      )}
    </div>
  );
});
