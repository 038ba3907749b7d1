import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef, useState, type ReactNode } from "react";
import { putCard, type BoardSnapshot } from "../api/patch-board.ts";
import type { Flow, Project } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { BoardActionsContext } from "./board-actions.ts";
import { Column } from "./column.tsx";
import { EmptyBoard } from "./empty-board.tsx";
import { count, FilterBar } from "./filter-bar.tsx";
import { MergeQuestion } from "./merge-question.tsx";
import { QuickAdd } from "./quick-add/quick-add.tsx";
import { ShownCard } from "./shown-card.tsx";
import { useBoardView, type BoardView } from "./use-board-view.ts";
import { useAutoScroll } from "./use-drag.ts";
import { useDensity } from "./use-density.ts";
import { useScrollToStage } from "./use-scroll-to-stage.ts";

// Not a part of the first load.
const CardDetails = lazy(() => import("./details/card-details.tsx"));

interface Props {
  readonly project: Project;
  readonly board: BoardSnapshot;
  /** With the gates of the stages and the backlog; undefined while it is being read. */
  readonly flow: Flow | undefined;
}

/** The filters and the columns of a project, with everything that moves cards. */
export function Columns({ project, board, flow }: Props) {
  const stages = useMemo(() => flow?.stages ?? stagesOf(board), [flow, board]);
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const readBoard = (): BoardSnapshot | undefined => queries.getQueryData(keys.board(project.id));
  const view = useBoardView({ projectId: project.id, board, readBoard, stages });
  const { requests, canMove } = view;
  const [isAdding, setIsAdding] = useState(false);
  const [created, setCreated] = useState<number | null>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const element = useScrollToStage();
  const density = useDensity();
  useAutoScroll(element);
  useShortcut("newCard", () => canMove && setIsAdding(true));
  useShortcut("filterCards", () => search.current?.focus());
  const first = stages.find(({ kind }) => kind !== "backlog");
  const form = isAdding && first && (
    <QuickAdd
      projectId={project.id}
      stage={first}
      onCreated={(card) => {
        queries.setQueryData<BoardSnapshot>(keys.board(project.id), (shown) => shown && putCard(shown, card));
        setCreated(card.number);
        view.noticeIfHidden(card);
      }}
      onClose={() => {
        setIsAdding(false);
        addButton.current?.focus();
      }}
    />
  );
  return (
    <BoardActionsContext value={view.actions}>
      <FilterBar board={board} address={view.address} shown={count(view.columns)} search={search}>
        <Button kind="quiet" aria-pressed={density.value === "compact"} onClick={density.toggle}>
          Compact
        </Button>
        {canMove ? (
          <Button ref={addButton} onClick={() => setIsAdding(true)}>
            <Icon name="plus" /> New card
          </Button>
        ) : (
          <span className="filter-count">You are a viewer: members move and create cards.</span>
        )}
      </FilterBar>
      {count(board.columns) === 0 && first && <EmptyBoard projectId={project.id} stage={first.name} />}
      <div className="board" ref={element} role="list" aria-label="Stages" data-density={density.value}>
        {view.columns.map((column) => (
          <StageColumn
            key={column.statusId}
            view={view}
            column={column}
            stage={stages.find(({ id }) => id === column.statusId)}
            created={created}
            bottom={column.statusId === first?.id && form}
          />
        ))}
      </div>
      <Suspense>
        <CardDetails board={board} within={element} />
      </Suspense>
      <MergeQuestion question={requests.question} onAnswer={requests.confirmMove} />
    </BoardActionsContext>
  );
}

interface StageColumnProps {
  readonly view: BoardView;
  readonly column: BoardSnapshot["columns"][number];
  /** Undefined for a moment after the flow has changed. */
  readonly stage: Flow["stages"][number] | undefined;
  /** The newest card of the form, which is scrolled to. */
  readonly created: number | null;
  readonly bottom: ReactNode;
}

function StageColumn({ view, column: { statusId, tasks }, stage, created, bottom }: StageColumnProps) {
  const { address, roving, dragged } = view;
  if (!stage) return null;
  return (
    <Column
      stage={stage}
      tasks={tasks}
      total={view.totals.get(statusId) ?? 0}
      isCollapsed={address.collapsed.has(statusId)}
      onToggle={() => address.toggle(statusId)}
      preview={dragged === null ? undefined : view.plans.get(statusId)}
      kept={[roving.current, dragged]}
      wanted={roving.wanted ?? created}
      bottom={bottom}
    >
      {(task) => <ShownCard view={view} task={task} />}
    </Column>
  );
}

/** Until the flow is read, what the board knows of its stages. */
const stagesOf = ({ columns }: BoardSnapshot): Flow["stages"] =>
  columns.map(({ statusId, ...stage }) => ({ id: statusId, ...stage }));
