import { useMemo, type ReactNode, type RefObject } from "react";
import { useRead } from "../api/reads.ts";
import type { Board } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Choice, type Named } from "../components/choice.tsx";
import { Field } from "../components/field.tsx";
import { cardsOf } from "../text/counted.ts";
import { isFiltered, NOBODY, type useBoardAddress } from "./filters.ts";

interface Props {
  readonly board: Board;
  readonly address: ReturnType<typeof useBoardAddress>;
  /** How many cards fit the filters. */
  readonly shown: number;
  readonly search: RefObject<HTMLInputElement | null>;
  /** More at the end, for example the button for a new card. */
  readonly children?: ReactNode;
}

/** Which cards are shown, by text, label, assignee, feature, and whether their move was refused. */
export function FilterBar({ board, address, shown, search, children }: Props) {
  const { filters, set, clear } = address;
  const { keys } = useWorkspace();
  const { data: features = [] } = useRead(keys.list("features"), "GET /v1/features", {}, { all: true });
  const { labels, people } = useChoices(board);
  const { q, label, assignee, feature, blocked } = filters;
  return (
    <div className="filters" role="search" aria-label="Filter the cards">
      <Field
        type="search"
        label="Filter by title or number"
        isLabelHidden
        placeholder="Filter cards  ( / )"
        ref={search}
        value={q}
        onChange={(event) => set("q", event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <Choice name="Label" chosen={label} choices={labels} onChoose={(id) => set("label", id)} />
      <Choice
        name="Assignee"
        chosen={assignee}
        choices={[...people, { id: NOBODY, name: "Nobody" }]}
        onChoose={(id) => set("assignee", id)}
      />
      {features.length > 0 && (
        <Choice name="Feature" chosen={feature} choices={features} onChoose={(id) => set("feature", id)} />
      )}
      <Button aria-pressed={blocked} className="filter" onClick={() => set("blocked", blocked ? null : "1")}>
        Blocked
      </Button>
      {isFiltered(filters) && (
        <>
          <Button kind="quiet" onClick={clear}>
            Clear
          </Button>
          <span className="filter-count" role="status">
            {shown} of {cardsOf(count(board.columns))}
          </span>
        </>
      )}
      <span className="filters-end">{children}</span>
    </div>
  );
}

/** How many cards some columns have. */
export const count = (columns: Board["columns"]): number =>
  columns.reduce((sum, { tasks }) => sum + tasks.length, 0);

/** The labels and assignees that cards of the board have, by name. */
function useChoices(board: Board): { readonly labels: readonly Named[]; readonly people: readonly Named[] } {
  return useMemo(() => {
    const labels = new Map<string, Named>();
    const people = new Map<string, Named>();
    for (const { tasks } of board.columns) {
      for (const task of tasks) {
        for (const label of task.labels) labels.set(label.id, label);
        if (task.assignee) people.set(task.assignee.id, task.assignee);
      }
    }
    const sorted = (all: Map<string, Named>): Named[] =>
      [...all.values()].toSorted((one, other) => one.name.localeCompare(other.name));
    return { labels: sorted(labels), people: sorted(people) };
  }, [board]);
}
