import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, type ReactNode, type RefObject } from "react";
import type { BoardTask } from "../api/schema.d.ts";
import { readStorage, writeStorage } from "../api/storage.ts";

/** About the height of a card with one line and one label, in pixels. Cards are measured when they are shown. */
const USUAL_HEIGHT = 72;
const GAP = 4;

interface Props {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly statusId: string;
  readonly label: string;
  readonly tasks: readonly BoardTask[];
  /** Cards that stay on the page when they are scrolled out of view: the focused and the dragged one. */
  readonly kept: readonly (number | null)[];
  /** The card to scroll to. */
  readonly wanted: number | null;
  readonly children: (task: BoardTask) => ReactNode;
}

/** The cards of a column. Only those in view are on the page. */
export function CardList({ list, statusId, label, tasks, kept, wanted, children }: Props) {
  const keptIndexes = tasks.flatMap(({ number }, index) => (kept.includes(number) ? [index] : []));
  const virtualizer = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => list.current,
    getItemKey: (index) => tasks[index]?.number ?? index,
    estimateSize: () => USUAL_HEIGHT,
    gap: GAP,
    overscan: 6,
    initialOffset: () => rememberedScroll(statusId),
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...keptIndexes])].toSorted((a, b) => a - b),
  });
  useKeptScroll(list, statusId);
  const wantedIndex = wanted === null ? -1 : tasks.findIndex(({ number }) => number === wanted);
  useEffect(() => {
    if (wantedIndex >= 0) virtualizer.scrollToIndex(wantedIndex);
  }, [virtualizer, wantedIndex]);
  return (
    <div className="column-cards" ref={list}>
      <ul aria-label={label} className="card-list" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const task = tasks[index];
          return (
            task && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-setsize={tasks.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                {children(task)}
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

const scrollName = (statusId: string): string => `trunkline:scroll:${statusId}`;

const rememberedScroll = (statusId: string): number =>
  Number(readStorage("sessionStorage", scrollName(statusId)) ?? 0);

/** Remembers how far a column is scrolled, for the return to the board. */
function useKeptScroll(list: RefObject<HTMLDivElement | null>, statusId: string): void {
  useLayoutEffect(() => {
    const element = list.current;
    const keep = (): void => {
      if (element) writeStorage("sessionStorage", scrollName(statusId), String(element.scrollTop));
    };
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      keep();
    };
  }, [list, statusId]);
}
