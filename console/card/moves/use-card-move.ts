import { useEffect, useRef, useState, type RefObject } from "react";
import type { CardSnapshot } from "../../api/reads.ts";
import { useMoveStates } from "../../board/moves/use-move.ts";
import type { Stage } from "./plan.tsx";
import { useMoveToTop, type MoveToTop } from "./use-move-to-top.ts";

export interface CardMove extends Omit<MoveToTop, "move"> {
  /** The stage that the card is on its way to, also if the move began on the board. */
  readonly pendingId: string | null;
  /** Why the last attempt has no outcome: no response, or GitHub does not respond. A refusal is on the card. */
  readonly problem: string | null;
  /** The element that shows a refusal, which receives the focus after one. */
  readonly refusal: RefObject<HTMLElement | null>;
  /** `waits`: when it is ready, if it is not. */
  ask(stage: Stage, waits?: boolean): void;
}

/** Moves the open card to the top of a stage, after a question where the move merges. Outcomes are announced. */
export function useCardMove(card: CardSnapshot, stages: readonly Stage[]): CardMove {
  const { move, ...asking } = useMoveToTop(card.projectId, stages);
  const last = useMoveStates().get(card.number);
  const [isRefusalNew, setIsRefusalNew] = useState(false);
  const refusal = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isRefusalNew || !refusal.current) return;
    refusal.current.focus();
    setIsRefusalNew(false);
  }, [isRefusalNew, card.blocked]);

  const outcome = last?.outcome;
  const failed = outcome?.state === "failed" && outcome.shownIn === card.statusId ? outcome : null;
  const ask = async (stage: Stage, waits?: boolean): Promise<void> => {
    const ended = await move(card, stage, waits);
    setIsRefusalNew(ended?.state === "refused");
  };
  return {
    ...asking,
    pendingId: outcome === null ? (last?.request.to.statusId ?? null) : null,
    problem: failed?.message ?? null,
    refusal,
    ask: (stage, waits) => void ask(stage, waits),
  };
}
