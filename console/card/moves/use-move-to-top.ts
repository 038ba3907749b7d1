import type { CardSnapshot } from "../../api/reads.ts";
import { requestTo, type MoveOutcome, type MoveRequest, type MoveState } from "../../board/moves/move.ts";
import { useAskMove } from "../../board/moves/use-ask-move.ts";
import { useMoveStates } from "../../board/moves/use-move.ts";
import type { Stage } from "./plan.tsx";

type MovedCard = Pick<CardSnapshot, "number" | "statusId" | "repositories">;

/** Moves cards to the top of a stage outside of the board, at once or when they are ready. */
export function useMoveToTop(projectId: string, stages: readonly Stage[]) {
  const { ask, ...asking } = useAskMove({ projectId, stages });
  const states = useMoveStates();
  const move = (card: MovedCard, stage: Stage, waits = false): Promise<MoveOutcome | null> => {
    const key = keyToRepeat(states.get(card.number), card, stage, waits) ?? crypto.randomUUID();
    return ask(requestOf(card, stage, { key, waits }));
  };
  return { move, ...asking };
}

export type MoveToTop = ReturnType<typeof useMoveToTop>;

/** The idempotency key of the last move, if this is the same move and the outcome is not known. */
function keyToRepeat(
  last: MoveState | undefined,
  card: MovedCard,
  stage: Stage,
  waits: boolean,
): string | null {
  const outcome = last?.outcome;
  if ((last?.request.waits ?? false) !== waits) return null;
  if (outcome?.state !== "failed" || !outcome.canRetry || outcome.shownIn !== card.statusId) return null;
  return last?.request.to.statusId === stage.id ? last.request.key : null;
}

/** Without the board the card above is unknown; a move to the top does not need it. */
const requestOf = (
  { number, statusId, repositories }: MovedCard,
  stage: Stage,
  { key, waits }: { readonly key: string; readonly waits: boolean },
): MoveRequest => ({
  number,
  from: { statusId, above: null },
  to: { statusId: stage.id, above: null, index: 0 },
  ...requestTo(stage, { statusId, repositories }),
  ...(waits && { waits }),
  key,
});
