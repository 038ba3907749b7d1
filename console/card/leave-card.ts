interface HistoryEntry {
  readonly url: string | null;
  readonly index: number;
}

interface Navigation {
  readonly currentEntry: HistoryEntry | null;
  entries(): readonly HistoryEntry[];
}

/**
 * Whether the page before this one in the tab's history is at `path`: then going back keeps its filters. False in
 * browsers without the Navigation API.
 */
export function cameFrom(path: string): boolean {
  const { navigation } = window as unknown as { readonly navigation?: Navigation };
  const index = navigation?.currentEntry?.index ?? 0;
  const url = navigation?.entries()[index - 1]?.url;
  return url !== undefined && url !== null && new URL(url).pathname === path;
}
