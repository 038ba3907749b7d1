import { useEffect, useLayoutEffect, useRef } from "react";

/**
 * Keeps keys away from the page behind a menu that opens, and gives them to the menu when it takes the focus: a user may
 * press them before it is on the page. Escape closes it.
 */
export function useHeldKeys(isOpen: boolean, close: () => void): void {
  const latestClose = useRef(close);
  useEffect(() => {
    latestClose.current = close;
  });
  useLayoutEffect(() => {
    if (!isOpen) return;
    const held: string[] = [];
    const hold = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === "Escape") latestClose.current();
      else held.push(event.key);
    };
    const release = (): void => {
      if (!isInMenu()) return;
      stop();
      void press(held);
    };
    const stop = (): void => {
      window.removeEventListener("keydown", hold, true);
      window.removeEventListener("focusin", release);
    };
    window.addEventListener("keydown", hold, true);
    window.addEventListener("focusin", release);
    return stop;
  }, [isOpen]);
}

const isInMenu = (): boolean => Boolean(document.activeElement?.closest('[role="menu"]'));

/** Presses keys one after the other, each after the page has reacted to the one before. */
async function press(keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await new Promise((resolve) => setTimeout(resolve));
    if (!isInMenu()) return;
    document.activeElement?.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
    );
  }
}
