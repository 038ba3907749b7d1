import { useSearchParams } from "wouter";
import type { AuditQuery } from "./use-audit.ts";

const NAMES = ["from", "to", "actor", "credential", "action", "outcome"] as const;
export type FilterName = (typeof NAMES)[number];
export type Filters = Readonly<Record<FilterName, string>>;

/** The filters of the address, so that a filtered log can be linked to. Empty without a filter. */
export function useFilters() {
  const [search, setSearch] = useSearchParams();
  const filters = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""])) as Filters;
  const change = (changes: Partial<Filters>): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes))
          if (value === "") next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const clear = (): void => change(Object.fromEntries(NAMES.map((name) => [name, ""])));
  return { filters, change, clear, isFiltered: NAMES.some((name) => filters[name] !== "") };
}

/** The query of the route, without empty filters. */
export const queryOf = (filters: Filters): AuditQuery =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ""));

/** A time of the address as an input for local times shows it; empty if it is not a time. */
export function localTime(at: string): string {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return "";
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 16);
}

/** The time in an input for local times, for the address. */
export const addressTime = (local: string): string => (local === "" ? "" : new Date(local).toISOString());
