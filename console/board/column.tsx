import { useRef, type ReactNode } from "react";
import type { BoardTask, Flow } from "../api/schema.d.ts";
import { CardList } from "./card-list.tsx";
import { ColumnHead } from "./column-head.tsx";
import { DropPreview } from "./drop-preview.tsx";
import { isRefused, type Preview } from "./moves/plan.ts";
import { useColumnDrop } from "./use-drag.ts";

interface Props {
  readonly stage: Flow["stages"][number];
  readonly tasks: readonly BoardTask[];
  /** How many cards the stage has without filters. */
  readonly total: number;
  readonly isCollapsed: boolean;
  readonly onToggle: () => void;
  /** While another stage's card is dragged: what moving it here would do. */
  readonly preview: Preview | undefined;
  readonly kept: readonly (number | null)[];
  /** The card to scroll to. */
  readonly wanted: number | null;
  /** Below the cards, where the form for new ones is. */
  readonly bottom?: ReactNode;
  readonly children: (task: BoardTask) => ReactNode;
}

/** A stage with its cards. */
export function Column(props: Props) {
  const { stage, tasks, total, isCollapsed, onToggle, preview, kept, wanted, bottom, children } = props;
  const column = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isOver = useColumnDrop(column, list, stage.id);
  const isNo = preview?.plan !== undefined && isRefused(preview.plan);
  return (
    <section
      className="column"
      ref={column}
      role="listitem"
      data-stage={stage.id}
      data-rule={stage.rule.type}
      data-collapsed={isCollapsed || undefined}
      data-over={isOver || undefined}
      data-refused={isNo || undefined}
      aria-labelledby={`stage-${stage.id}`}
    >
      <ColumnHead
        stage={stage}
        shown={tasks.length}
        total={total}
        isCollapsed={isCollapsed}
        onToggle={onToggle}
      />
      {!isCollapsed && (
        <>
          <CardList
            list={list}
            statusId={stage.id}
            label={stage.name}
            tasks={tasks}
            kept={kept}
            wanted={wanted}
          >
            {children}
          </CardList>
          {bottom}
          {preview && <DropPreview preview={preview} />}
        </>
      )}
    </section>
  );
}
