import { useCallback, useMemo, useState } from "react";
import type { Board } from "../api/schema.d.ts";
import { useShortcut } from "../keyboard/provider.tsx";

type Column = Board["columns"][number];

/** Which card of the board has the focus, or gets it with Tab. */
export interface Roving {
  /** The card that Tab reaches; null on an empty board. */
  readonly current: number | null;
  /** The card that takes the focus as soon as it is on the page. */
  readonly wanted: number | null;
  readonly focusCard: (number: number) => void;
  /** The card has the focus. */
  readonly onFocused: (number: number) => void;
}

/** Moves the focus from card to card: one stop of Tab for the whole board, then arrows or h, j, k and l. */
export function useRoving(columns: readonly Column[]): Roving {
  const [last, setLast] = useState<number | null>(null);
  const [wanted, setWanted] = useState<number | null>(null);
  const filled = useMemo(() => columns.filter(({ tasks }) => tasks.length > 0), [columns]);
  const place = placeOf(filled, last);
  const [lastPlace, setLastPlace] = useState<Place>({ column: 0, index: 0 });
  if (place && (place.column !== lastPlace.column || place.index !== lastPlace.index)) setLastPlace(place);
  const current = place ? last : numberNear(filled, lastPlace);
  const focusCard = useCallback((number: number) => {
    if (!isWritingElsewhere()) setWanted(number);
    setLast(number);
  }, []);
  const onFocused = useCallback((number: number) => {
    setLast(number);
    setWanted(null);
  }, []);
  const step = (right: number, down: number): void => {
    if (!place || !isOnCard()) {
      if (current !== null) focusCard(current);
      return;
    }
    const column = filled[clamp(place.column + right, filled.length)];
    const task = column?.tasks[clamp(place.index + down, column.tasks.length)];
    if (task) focusCard(task.number);
  };
  useShortcut("nextCard", () => step(0, 1));
  useShortcut("previousCard", () => step(0, -1));
  useShortcut("cardToTheRight", () => step(1, 0));
  useShortcut("cardToTheLeft", () => step(-1, 0));
  // A card that leaves the page gives the focus to the one that takes its place.
  const isGone = wanted !== null && wanted === last && !place;
  return { current, wanted: isGone ? current : wanted, focusCard, onFocused };
}

/** The card at a place, or the last one before it. */
function numberNear(columns: readonly Column[], { column, index }: Place): number | null {
  const tasks = columns[clamp(column, columns.length)]?.tasks ?? [];
  return tasks[clamp(index, tasks.length)]?.number ?? null;
}

interface Place {
  readonly column: number;
  readonly index: number;
}

function placeOf(columns: readonly Column[], number: number | null): Place | null {
  if (number === null) return null;
  for (const [column, { tasks }] of columns.entries()) {
    const index = tasks.findIndex((task) => task.number === number);
    if (index >= 0) return { column, index };
  }
  return null;
}

const clamp = (index: number, length: number): number => Math.max(0, Math.min(index, length - 1));

const isInside = (selector: string): boolean => Boolean(document.activeElement?.closest(selector));
const isOnCard = (): boolean => isInside("[data-card]");

/** A card never takes the focus away from a text or a dialog. */
const isWritingElsewhere = (): boolean => isInside('input, textarea, select, [role="dialog"]');
