import { useMemo } from "react";
import { useSearchParams } from "wouter";
import type { Board, BoardTask } from "../api/schema.d.ts";

/** Which cards the board shows. In the address, so that a filtered board can be linked to. */
export interface Filters {
  readonly q: string;
  readonly label: string | null;
  readonly assignee: string | null;
  readonly feature: string | null;
  readonly blocked: boolean;
}

/** The value of `assignee` for cards that nobody is assigned to. */
export const NOBODY = "none";

type Name = keyof Filters | "collapsed";

/** The filters and collapsed columns of the address. A change replaces the address: `Back` leaves the board. */
export function useBoardAddress() {
  const [search, setSearch] = useSearchParams();
  const set = (name: Name, value: string | null): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null || value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const clear = (): void =>
    setSearch(
      (before) =>
        new URLSearchParams(
          [...before].filter(([name]) => !["q", "label", "assignee", "feature", "blocked"].includes(name)),
        ),
      { replace: true },
    );
  const text = search.toString();
  return useMemo(() => {
    const params = new URLSearchParams(text);
    const collapsed = new Set((params.get("collapsed") ?? "").split(",").filter(Boolean));
    const filters: Filters = {
      q: params.get("q") ?? "",
      label: params.get("label"),
      assignee: params.get("assignee"),
      feature: params.get("feature"),
      blocked: params.get("blocked") === "1",
    };
    const toggle = (statusId: string): void => {
      const next = new Set(collapsed);
      if (!next.delete(statusId)) next.add(statusId);
      set("collapsed", [...next].join(","));
    };
    return { filters, collapsed, toggle, set, clear };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the setters depend on the address only
  }, [text]);
}

export const isFiltered = ({ q, label, assignee, feature, blocked }: Filters): boolean =>
  q.trim() !== "" || label !== null || assignee !== null || feature !== null || blocked;

/** Whether a card fits all filters. Each word of the text must be in its title or number. */
export function fits(task: Omit<BoardTask, "armed">, filters: Filters): boolean {
  const { label, assignee, feature } = filters;
  if (label !== null && task.labels.every(({ id }) => id !== label)) return false;
  if (assignee !== null && (task.assignee?.id ?? NOBODY) !== assignee) return false;
  if (feature !== null && task.featureId !== feature) return false;
  if (filters.blocked && !task.blocked) return false;
  const text = `#${task.number} ${task.title}`.toLowerCase();
  return filters.q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The columns with the cards that fit the filters. */
export function filterColumns({ columns }: Board, filters: Filters): Board["columns"] {
  if (!isFiltered(filters)) return columns;
  return columns.map((column) => ({ ...column, tasks: column.tasks.filter((task) => fits(task, filters)) }));
}
