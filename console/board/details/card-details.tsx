import { useEffect, useRef, useState, type RefObject } from "react";
import { findCard } from "../../api/patch-board.ts";
import type { Board, BoardTask } from "../../api/schema.d.ts";
import { cardFacts } from "../../card-chip/card-facts.ts";
import { FactList } from "../../card-chip/fact-line.tsx";
import { useBoardActions } from "../board-actions.ts";
import { factContext } from "./fact-context.ts";

/** How long the pointer rests on a card before its details appear, in milliseconds. */
const REST_MS = 350;
const GAP = 6;

interface Props {
  readonly board: Board;
  /** The element with the cards. */
  readonly within: RefObject<HTMLElement | null>;
}

/**
 * What the icons of a card mean, next to the card that the pointer rests on or that has the focus. Escape closes it.
 * Screen readers read the same in the card.
 */
export default function CardDetails({ board, within }: Props) {
  const [number, setNumber] = useState<number | null>(null);
  const popover = useRef<HTMLDivElement>(null);
  const actions = useBoardActions();
  useEffect(() => watch(within.current, popover.current, setNumber), [within]);
  const task = number === null ? undefined : findCard(board, number)?.task;
  const facts = task ? cardFacts(task, factContext(actions, task)) : [];
  const isShown = task !== undefined && facts.length > 0;
  useEffect(() => {
    const element = popover.current;
    if (!element) return;
    if (!isShown) return element.hidePopover();
    element.showPopover();
    place(element, within.current?.querySelector(`[data-card="${task.number}"]`));
  }, [isShown, task, within]);
  return (
    <div ref={popover} popover="manual" className="card-details" aria-hidden="true">
      {task && <Heading task={task} />}
      <FactList facts={facts} />
    </div>
  );
}

const Heading = ({ task: { number, title } }: { readonly task: BoardTask }) => (
  <p className="card-details-title">
    #{number} <bdi>{title}</bdi>
  </p>
);

/** Reports the card that the pointer rests on or that has the visible focus. Returns a function that stops. */
function watch(
  board: HTMLElement | null,
  popover: HTMLElement | null,
  report: (number: number | null) => void,
): () => void {
  if (!board || !popover) return () => undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (number: number | null, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => report(number), ms);
  };
  const hide = (): void => later(null, 0);
  // This code is loaded after the board, so the pointer may rest on a card already.
  const rested = board.querySelector<HTMLElement>("[data-card]:hover");
  if (rested) later(Number(rested.dataset["card"]), REST_MS);
  board.addEventListener(
    "pointerover",
    (event) => event.pointerType === "mouse" && later(cardOf(event), REST_MS),
    {
      signal,
    },
  );
  board.addEventListener("pointerleave", () => later(null, REST_MS), { signal });
  // The pointer may enter the details.
  popover.addEventListener("pointerenter", () => clearTimeout(timer), { signal });
  popover.addEventListener("pointerleave", hide, { signal });
  board.addEventListener(
    "focusin",
    (event) =>
      event.target instanceof Element && event.target.matches(":focus-visible") && later(cardOf(event), 0),
    { signal },
  );
  board.addEventListener("focusout", hide, { signal });
  board.addEventListener("dragstart", hide, { signal });
  board.addEventListener("pointerdown", hide, { signal });
  board.addEventListener("scroll", hide, { signal, capture: true });
  window.addEventListener("keydown", ({ key }) => key === "Escape" && hide(), { signal, capture: true });
  return () => {
    clearTimeout(timer);
    stopping.abort();
  };
}

/** The number of the card that an event is about. */
function cardOf({ target }: Event): number | null {
  const card = target instanceof Element ? target.closest<HTMLElement>("[data-card]") : null;
  return card ? Number(card.dataset["card"]) : null;
}

/** Places the details below the card, or above it if there is no room. */
function place(popover: HTMLElement, card: Element | null | undefined): void {
  if (!card) return;
  const at = card.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const below = at.bottom + GAP;
  const top = below + height <= window.innerHeight ? below : Math.max(GAP, at.top - GAP - height);
  popover.style.top = `${top}px`;
  popover.style.left = `${Math.max(GAP, Math.min(at.left, window.innerWidth - width - GAP))}px`;
}
