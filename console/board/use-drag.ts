import { attachClosestEdge, extractClosestEdge } from "@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge";
import { combine } from "@atlaskit/pragmatic-drag-and-drop/combine";
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { useEffect, useRef, useState, type RefObject } from "react";

/** Where a dragged card was let go. */
export interface Drop {
  readonly number: number;
  readonly statusId: string;
  /** The card next to the place, and whether it is above the place; null in a column without cards. */
  readonly beside: { readonly number: number; readonly isAbove: boolean } | null;
}

type Data = Readonly<Record<string | symbol, unknown>>;

/** The card that is being dragged on this board. Runs `onDrop` when it is let go over a column. */
export function useDragMonitor(onDrop: (drop: Drop) => void): number | null {
  const [dragged, setDragged] = useState<number | null>(null);
  const latest = useRef(onDrop);
  useEffect(() => {
    latest.current = onDrop;
  });
  useEffect(
    () =>
      monitorForElements({
        canMonitor: ({ source }) => "card" in source.data,
        onDragStart: ({ source }) => setDragged(Number(source.data["card"])),
        onDrop: ({ source, location }) => {
          setDragged(null);
          const targets = location.current.dropTargets.map(({ data }) => data);
          const column = targets.find((data) => "column" in data);
          if (!column) return;
          const number = Number(source.data["card"]);
          latest.current({ number, statusId: String(column["column"]), beside: besideOf(targets, number) });
        },
      }),
    [],
  );
  return dragged;
}

function besideOf(targets: readonly Data[], moved: number): Drop["beside"] {
  const card = targets.find((data) => "beside" in data);
  if (!card) return null;
  const number = Number(card["beside"]);
  return { number, isAbove: number === moved || extractClosestEdge(card) === "bottom" };
}

type Edge = "top" | "bottom";

/** Makes a card draggable, and a place to drop others at. Returns the edge at which one would be placed. */
export function useCardDrag(
  element: RefObject<HTMLElement | null>,
  number: number,
  canMove: boolean,
): Edge | null {
  const [edge, setEdge] = useState<Edge | null>(null);
  useEffect(() => {
    if (!element.current) return;
    return combine(
      draggable({
        element: element.current,
        canDrag: () => canMove,
        getInitialData: () => ({ card: number }),
      }),
      dropTargetForElements({
        element: element.current,
        canDrop: ({ source }) => "card" in source.data,
        // A drop between two cards, or below all, belongs to the card that was last under the pointer.
        getIsSticky: () => true,
        getData: ({ input, element: card }) =>
          attachClosestEdge({ beside: number }, { input, element: card, allowedEdges: ["top", "bottom"] }),
        onDrag: ({ self, source }) =>
          setEdge(source.data["card"] === number ? null : (extractClosestEdge(self.data) as Edge | null)),
        onDragLeave: () => setEdge(null),
        onDrop: () => setEdge(null),
      }),
    );
  }, [element, number, canMove]);
  return edge;
}

/** Makes a column a place to drop cards at. Returns whether one is over it. */
export function useColumnDrop(
  column: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  statusId: string,
): boolean {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    if (!column.current) return;
    return combine(
      dropTargetForElements({
        element: column.current,
        canDrop: ({ source }) => "card" in source.data,
        getData: () => ({ column: statusId }),
        onDragEnter: () => setIsOver(true),
        onDragLeave: () => setIsOver(false),
        onDrop: () => setIsOver(false),
      }),
      ...(list.current ? [autoScroll(list.current)] : []),
    );
  }, [column, list, statusId]);
  return isOver;
}

/** Scrolls the columns sideways while a card is dragged near their edge. */
export function useAutoScroll(element: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (element.current) return autoScroll(element.current);
  }, [element]);
}

/** Scrolls an element during drags, and returns a function that ends that. The first screen does not wait for its code. */
function autoScroll(element: HTMLElement): () => void {
  let stop: (() => void) | null = null;
  let isOver = false;
  const start = async (): Promise<void> => {
    const { autoScrollForElements } = await import("@atlaskit/pragmatic-drag-and-drop-auto-scroll/element");
    if (!isOver) stop = autoScrollForElements({ element });
  };
  void start();
  return () => {
    isOver = true;
    stop?.();
  };
}
