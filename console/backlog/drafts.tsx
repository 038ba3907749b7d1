import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { BoardSnapshot } from "../api/patch-board.ts";
import type { Card, Flow, Project } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { BoardActionsContext } from "../board/board-actions.ts";
import { CardList } from "../board/card-list.tsx";
import { count, FilterBar } from "../board/filter-bar.tsx";
import { MergeQuestion } from "../board/merge-question.tsx";
import { QuickAdd } from "../board/quick-add/quick-add.tsx";
import { ShownCard } from "../board/shown-card.tsx";
import { useBoardView, type BoardView } from "../board/use-board-view.ts";
import { useColumnDrop } from "../board/use-drag.ts";
import { EmptyState } from "../components/states.tsx";
import { useShortcut } from "../keyboard/provider.tsx";

type Stage = Flow["stages"][number];

interface Props {
  readonly project: Project;
  readonly backlog: Stage;
  readonly drafts: readonly Card[];
  readonly stages: readonly Stage[];
}

/** The backlog as a board with one column: filters, quick add, and everything that moves drafts. */
export function Drafts({ project, backlog, drafts, stages }: Props) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const board = useMemo(() => boardOf(backlog, drafts), [backlog, drafts]);
  const readBoard = (): BoardSnapshot =>
    boardOf(backlog, queries.getQueryData<readonly Card[]>(keys.backlog(project.id)) ?? []);
  const view = useBoardView({ projectId: project.id, board, readBoard, stages });
  const [created, setCreated] = useState<number | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const title = useRef<HTMLInputElement>(null);
  useShortcut("newCard", () => title.current?.focus());
  useShortcut("filterCards", () => search.current?.focus());
  const onCreated = (card: Card): void => {
    queries.setQueryData<readonly Card[]>(
      keys.backlog(project.id),
      (shown) => shown && [...shown.filter(({ id }) => id !== card.id), card],
    );
    setCreated(card.number);
    view.noticeIfHidden(card);
  };
  return (
    <BoardActionsContext value={view.actions}>
      <div className="backlog">
        <h1>
          Backlog <span className="column-count">{drafts.length}</span>
        </h1>
        <p className="backlog-note">
          {view.canMove
            ? "Drafts without a branch, the most important first. Drag a draft, or press m for its menu."
            : "You are a viewer: members write and move drafts."}
        </p>
        {view.canMove && (
          <QuickAdd projectId={project.id} stage={backlog} onCreated={onCreated} fieldRef={title} />
        )}
      </div>
      <FilterBar board={board} address={view.address} shown={count(view.columns)} search={search} />
      {drafts.length === 0 ? (
        <EmptyState title="The backlog is empty">
          Write down what may be worth doing. A draft has no branch until it is moved to a stage.
        </EmptyState>
      ) : (
        <DraftList view={view} backlog={backlog} created={created} />
      )}
      <MergeQuestion question={view.requests.question} onAnswer={view.requests.confirmMove} />
    </BoardActionsContext>
  );
}

interface ListProps {
  readonly view: BoardView;
  readonly backlog: Stage;
  /** The newest draft of the form, which is scrolled to. */
  readonly created: number | null;
}

function DraftList({ view, backlog, created }: ListProps) {
  const { roving, dragged } = view;
  const column = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOver = useColumnDrop(column, list, backlog.id);
  const tasks = view.columns[0]?.tasks ?? [];
  return (
    <section
      className="column backlog-drafts"
      ref={column}
      data-stage={backlog.id}
      data-over={isOver || undefined}
      aria-label="Drafts"
    >
      <CardList
        list={list}
        statusId={backlog.id}
        label="Drafts"
        tasks={tasks}
        kept={[roving.current, dragged]}
        wanted={roving.wanted ?? created}
      >
        {(task) => <ShownCard view={view} task={task} />}
      </CardList>
    </section>
  );
}

const boardOf = ({ id, ...stage }: Stage, drafts: readonly Card[]): BoardSnapshot => ({
  columns: [{ ...stage, kind: "stage", statusId: id, tasks: drafts }],
  feedSeq: 0,
});
