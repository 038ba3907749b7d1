import { useEffect, useRef, type RefObject } from "react";
import type { InboxItem } from "../api/schema.d.ts";
import { useShortcut } from "../keyboard/provider.tsx";

/**
 * Moves the focus through the items, dismisses the one that has it, and passes the focus on when an item is gone.
 * Begins at the item with the id `wanted`.
 */
export function useItemFocus(
  items: readonly InboxItem[] | undefined,
  wanted: string | null,
): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  /** The place of the item that last had the focus. */
  const place = useRef<number | null>(null);
  const all = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("[data-item]") ?? [])];
  const focused = (): number => all().findIndex((item) => item.contains(document.activeElement));
  const focusAt = (index: number): void => {
    const shown = all();
    const next = shown[Math.min(Math.max(index, 0), shown.length - 1)];
    (next ?? list.current?.querySelector<HTMLElement>("h1"))?.focus();
  };
  useShortcut("nextItem", () => focusAt(focused() + 1));
  useShortcut("previousItem", () => focusAt(Math.max(focused(), 0) - 1));
  useShortcut("dismissItem", () =>
    all()[focused()]?.querySelector<HTMLButtonElement>("[data-dismiss]")?.click(),
  );
  useEffect(() => {
    const remember = (): void => {
      place.current = focused() < 0 ? null : focused();
    };
    document.addEventListener("focusin", remember);
    return () => document.removeEventListener("focusin", remember);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- reads the page, not the render
  }, []);
  useEffect(() => {
    if (place.current !== null && document.activeElement === document.body) focusAt(place.current);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- reads the page, not the render
  }, [items]);
  useEffect(() => {
    const item = all().find((each) => each.dataset["item"] === wanted);
    item?.scrollIntoView({ block: "center" });
    item?.focus({ preventScroll: true });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each address
  }, [wanted]);
  return list;
}
