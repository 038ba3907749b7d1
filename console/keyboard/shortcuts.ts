/** Where a shortcut applies: on every page, or on one screen besides those of every page. */
export type Scope = "everywhere" | "board" | "card" | "inbox" | "backlog" | "releases" | "release" | "pages";

export interface Shortcut {
  /** One key as in `KeyboardEvent.key`, `Mod+k` for Ctrl or ⌘, `Shift+K`, or two keys in a row: `g b`. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly scope: Scope;
}

/**
 * All shortcuts of the console. A screen attaches what they do with `useShortcut`; `?` lists those that are attached. A
 * test refuses keys that two shortcuts of one page share.
 */
export const SHORTCUTS = {
  commandMenu: { keys: ["Mod+k"], label: "Search and commands", scope: "everywhere" },
  shortcutList: { keys: ["?"], label: "Show the shortcuts", scope: "everywhere" },
  goToBoard: { keys: ["g b"], label: "Go to the board", scope: "everywhere" },
  goToInbox: { keys: ["g i"], label: "Go to the inbox", scope: "everywhere" },
  goToBacklog: { keys: ["g l"], label: "Go to the backlog", scope: "everywhere" },
  goToReleases: { keys: ["g r"], label: "Go to the releases", scope: "everywhere" },
  goToPages: { keys: ["g p"], label: "Go to the pages", scope: "everywhere" },
  goToTrunk: { keys: ["g t"], label: "Go to the trunk report", scope: "everywhere" },
  goToSettings: { keys: ["g s"], label: "Go to the settings", scope: "everywhere" },
  nextCard: { keys: ["j", "ArrowDown"], label: "Next card", scope: "board" },
  previousCard: { keys: ["k", "ArrowUp"], label: "Previous card", scope: "board" },
  cardToTheLeft: { keys: ["h", "ArrowLeft"], label: "Column to the left", scope: "board" },
  cardToTheRight: { keys: ["l", "ArrowRight"], label: "Column to the right", scope: "board" },
  moveCard: { keys: ["m"], label: "Move the card", scope: "board" },
  raiseCard: { keys: ["Shift+K"], label: "Move the card up", scope: "board" },
  lowerCard: { keys: ["Shift+J"], label: "Move the card down", scope: "board" },
  newCard: { keys: ["c"], label: "New card", scope: "board" },
  filterCards: { keys: ["/"], label: "Filter the cards", scope: "board" },
  editCard: { keys: ["e"], label: "Edit title and text", scope: "card" },
  commentOnCard: { keys: ["c"], label: "Write a comment", scope: "card" },
  moveOpenCard: { keys: ["m"], label: "Move to another stage", scope: "card" },
  openPullRequest: { keys: ["o"], label: "Open the pull request", scope: "card" },
  nextItem: { keys: ["j"], label: "Next item", scope: "inbox" },
  previousItem: { keys: ["k"], label: "Previous item", scope: "inbox" },
  dismissItem: { keys: ["d"], label: "Dismiss the item", scope: "inbox" },
  newRelease: { keys: ["c"], label: "New release", scope: "releases" },
  addToRelease: { keys: ["/"], label: "Search cards to add or pick", scope: "release" },
  promoteRelease: { keys: ["p"], label: "Promote cards", scope: "release" },
  freezeRelease: { keys: ["f"], label: "Freeze or unfreeze", scope: "release" },
  completeRelease: { keys: ["t"], label: "Complete with tags", scope: "release" },
  editPage: { keys: ["e"], label: "Edit the page", scope: "pages" },
  newPage: { keys: ["c"], label: "New page", scope: "pages" },
  leaveCard: { keys: ["Escape"], label: "Back to the board", scope: "card" },
} as const satisfies Readonly<Record<string, Shortcut>>;

export type ShortcutName = keyof typeof SHORTCUTS;

/** Pairs of shortcuts of one page that the same key press triggers, as sentences. */
export function findConflicts(shortcuts: Readonly<Record<string, Shortcut>>): string[] {
  const all = Object.entries(shortcuts).flatMap(([name, { keys, scope }]) =>
    keys.map((each) => ({ name, keys: each, scope })),
  );
  return all.flatMap((one, index) =>
    all
      .slice(index + 1)
      .filter((other) => sharesPage(one.scope, other.scope) && startsAlike(one.keys, other.keys))
      .map((other) => `${one.name} and ${other.name} share ${one.keys}`),
  );
}

const sharesPage = (one: Scope, other: Scope): boolean =>
  one === other || one === "everywhere" || other === "everywhere";

/** The same keys, or one key that begins the other's two. */
const startsAlike = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other} `) || other.startsWith(`${one} `);
