import type { IconName } from "../components/icon.tsx";
import type { ShortcutName } from "../keyboard/shortcuts.ts";

export interface Place {
  readonly label: string;
  /** After the board's address. */
  readonly path: string;
  readonly icon: IconName;
  readonly shortcut: ShortcutName;
}

/** The screens of a board, in the order of the top bar. */
export const PLACES: readonly Place[] = [
  { label: "Board", path: "", icon: "board", shortcut: "goToBoard" },
  { label: "Inbox", path: "/inbox", icon: "inbox", shortcut: "goToInbox" },
  { label: "Backlog", path: "/backlog", icon: "backlog", shortcut: "goToBacklog" },
  { label: "Releases", path: "/releases", icon: "tag", shortcut: "goToReleases" },
  { label: "Pages", path: "/pages", icon: "page", shortcut: "goToPages" },
  { label: "Trunk", path: "/trunk", icon: "merge", shortcut: "goToTrunk" },
  { label: "Settings", path: "/settings", icon: "settings", shortcut: "goToSettings" },
];
