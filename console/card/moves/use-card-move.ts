import { useEffect, useRef, useState, type RefObject } from "react";
import { messageOf } from "../../api/problem.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import { useMoveStates } from "../../board/moves/use-move.ts";
import { useAnnounce } from "../../components/announcer.tsx";
import type { Stage } from "./plan.tsx";
import { useMoveToTop, type MoveToTop } from "./use-move-to-top.ts";

export interface CardMove extends Omit<MoveToTop, "move"> {
  /** The stage that the card is on its way to, also if the move began on the board. */
  readonly pendingId: string | null;
  /** Why the last attempt has no outcome: no response, or GitHub does not respond. A refusal is on the card. */
  readonly problem: string | null;
  /** The element that shows a refusal, which receives the focus after one. */
  readonly refusal: RefObject<HTMLElement | null>;
  ask(stage: Stage): void;
}

/** Moves the open card to the top of a stage, after a question where the move merges. Outcomes are announced. */
export function useCardMove(card: CardSnapshot, stages: readonly Stage[]): CardMove {
  const announce = useAnnounce();
  const { move, ...asking } = useMoveToTop(card.projectId, stages);
  const last = useMoveStates().get(card.number);
  const [failure, setFailure] = useState<string | null>(null);
  const [isRefusalNew, setIsRefusalNew] = useState(false);
  const refusal = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isRefusalNew || !refusal.current) return;
    refusal.current.focus();
    setIsRefusalNew(false);
  }, [isRefusalNew, card.blocked]);

  const outcome = last?.outcome;
  const failed = outcome?.state === "failed" && outcome.shownIn === card.statusId ? outcome : null;
  const ask = async (stage: Stage): Promise<void> => {
    setFailure(null);
    try {
      const ended = await move(card, stage);
      setIsRefusalNew(ended?.state === "refused");
    } catch (error) {
      announce(messageOf(error));
      setFailure(messageOf(error));
    }
  };
  return {
    ...asking,
    pendingId: outcome === null ? (last?.request.to.statusId ?? null) : null,
    problem: failure ?? failed?.message ?? null,
    refusal,
    ask: (stage) => void ask(stage),
  };
}
