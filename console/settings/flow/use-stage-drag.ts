import { attachClosestEdge, extractClosestEdge } from "@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge";
import { combine } from "@atlaskit/pragmatic-drag-and-drop/combine";
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { useEffect, useRef, useState, type RefObject } from "react";

/** Runs `onDrop` when a stage is let go over another one, with the place it gets. */
export function useStageDrop(onDrop: (key: string, to: number) => void): void {
  const latest = useRef(onDrop);
  useEffect(() => {
    latest.current = onDrop;
  });
  useEffect(
    () =>
      monitorForElements({
        canMonitor: ({ source }) => "stage" in source.data,
        onDrop: ({ source, location }) => {
          const target = location.current.dropTargets.find(({ data }) => "at" in data)?.data;
          if (!target) return;
          const from = Number(source.data["at"]);
          const to = Number(target["at"]) + (extractClosestEdge(target) === "bottom" ? 1 : 0);
          latest.current(String(source.data["stage"]), to > from ? to - 1 : to);
        },
      }),
    [],
  );
}

interface Dragged {
  readonly item: RefObject<HTMLElement | null>;
  readonly handle: RefObject<HTMLElement | null>;
  readonly stageKey: string;
  readonly at: number;
}

/** Makes a stage draggable by its handle. Returns the edge at which another one would be placed. */
export function useStageDrag({ item, handle, stageKey, at }: Dragged): "top" | "bottom" | null {
  const [edge, setEdge] = useState<"top" | "bottom" | null>(null);
  useEffect(() => {
    if (!item.current || !handle.current) return;
    return combine(
      draggable({
        element: item.current,
        dragHandle: handle.current,
        canDrag: () => at > 0,
        getInitialData: () => ({ stage: stageKey, at }),
      }),
      dropTargetForElements({
        element: item.current,
        canDrop: ({ source }) => "stage" in source.data,
        // Nothing goes above the backlog.
        getData: ({ input, element }) =>
          attachClosestEdge(
            { at },
            { input, element, allowedEdges: at > 0 ? ["top", "bottom"] : ["bottom"] },
          ),
        onDrag: ({ self }) => setEdge(extractClosestEdge(self.data) as "top" | "bottom" | null),
        onDragLeave: () => setEdge(null),
        onDrop: () => setEdge(null),
      }),
    );
  }, [item, handle, stageKey, at]);
  return edge;
}
