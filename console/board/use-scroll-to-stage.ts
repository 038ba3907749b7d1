import { useEffect, useRef, type RefObject } from "react";
import { useSearchParams } from "wouter";

/** Scrolls to the stage of the address (`?stage=<id>`), which the command menu opens. */
export function useScrollToStage(): RefObject<HTMLDivElement | null> {
  const [search] = useSearchParams();
  const columns = useRef<HTMLDivElement>(null);
  const stage = search.get("stage");
  useEffect(() => {
    if (stage === null) return;
    const heading = columns.current?.querySelector<HTMLElement>(`[data-stage="${CSS.escape(stage)}"] h2`);
    heading?.scrollIntoView({ inline: "center", block: "nearest" });
    heading?.focus({ preventScroll: true });
  }, [stage]);
  return columns;
}
