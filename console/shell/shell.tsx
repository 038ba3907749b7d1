import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { useLocation } from "wouter";
import { useWorkspace } from "../api/workspace.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { Banners } from "./banners.tsx";
import { rememberBoard } from "./recent-board.ts";
import { PLACES } from "./places.ts";
import { TopBar } from "./top-bar.tsx";
import { useAddress } from "./use-project.ts";
import "./shell.css";

const CommandMenu = lazy(() => import("../keyboard/command-menu.tsx"));
const ShortcutList = lazy(() => import("../keyboard/shortcut-list.tsx"));

/** What surrounds every screen of a board. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { board } = useWorkspace();
  const addressOf = useAddress();
  const [location, navigate] = useLocation();
  const [isSearching, setIsSearching] = useState(false);
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  useEffect(() => rememberBoard(board.workspaceId), [board.workspaceId]);
  useShortcut("commandMenu", () => setIsSearching(true));
  useShortcut("shortcutList", () => setShowsShortcuts(true));
  for (const { shortcut, path } of PLACES) useShortcut(shortcut, () => navigate(addressOf(path)));
  const main = useFocusOnNewPage(location);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the page
      </a>
      <TopBar onSearch={() => setIsSearching(true)} onShortcuts={() => setShowsShortcuts(true)} />
      <Banners />
      <main id="main" className="shell-main" tabIndex={-1} ref={main}>
        {children}
      </main>
      {showsShortcuts && (
        <Suspense>
          <ShortcutList onClose={() => setShowsShortcuts(false)} />
        </Suspense>
      )}
      {isSearching && (
        <Suspense>
          <CommandMenu onClose={() => setIsSearching(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Moves the focus to the new page, as a browser does after a link; after a card, to the link that leads to it. */
function useFocusOnNewPage(location: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(location);
  useEffect(() => {
    const before = shown.current;
    if (before === location || !main.current) return;
    shown.current = location;
    main.current.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    return /\/cards\/\d+$/.test(before) ? focusLinkTo(before, main.current) : undefined;
  }, [location]);
  return main;
}

/** How long a page may take to show its links, in milliseconds. */
const LINKS_MS = 3_000;

/** Focuses a link when it appears, unless the user has moved the focus before. Returns what ends the wait. */
function focusLinkTo(address: string, main: HTMLElement): () => void {
  const tryFocus = (): void => {
    const link = main.querySelector<HTMLElement>(`a[href="${CSS.escape(address)}"]`);
    if (document.activeElement === main) link?.focus();
    if (document.activeElement !== main) stop();
  };
  const observer = new MutationObserver(tryFocus);
  const timer = setTimeout(() => stop(), LINKS_MS);
  const stop = (): void => {
    clearTimeout(timer);
    observer.disconnect();
  };
  observer.observe(main, { childList: true, subtree: true });
  tryFocus();
  return stop;
}
