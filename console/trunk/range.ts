import { useSearchParams } from "wouter";

const DAY_MS = 86_400_000;
export const PRESETS = [7, 30, 90] as const;

/** The days and the repository of the address. */
export function useRange() {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Readonly<Record<string, string | null>>): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === null || value === "") next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  return {
    from: search.get("from"),
    to: search.get("to"),
    repository: search.get("repository"),
    set,
  };
}

/** The first day of a range that ends today and has this many days, in UTC. */
export const daysAgo = (days: number): string =>
  new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
