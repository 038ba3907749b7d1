import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CardSnapshot } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import {
  noticeOf,
  sentenceOf,
  type MoveOutcome,
  type MoveRequest,
  type MoveState,
} from "../../board/moves/move.ts";
import { freshPlan, needsConfirmation, readPlan } from "../../board/moves/plan.ts";
import { skippedMerges } from "../../board/moves/skipped-merges.ts";
import { useMove, useMoveStates } from "../../board/moves/use-move.ts";
import type { MergeConfirmation } from "../../board/moves/use-request-move.ts";
import { useAnnounce } from "../../components/announcer.tsx";
import { useToast } from "../../components/toast.tsx";
import type { Stage } from "./plan.tsx";

type MovedCard = Pick<CardSnapshot, "number" | "statusId">;

export interface MoveToTop {
  /**
   * Moves a card to the top of a stage. The outcome is null if the user decides against a merge. Throws if the plan of
   * the move cannot be read.
   */
  readonly move: (card: MovedCard, stage: Stage) => Promise<MoveOutcome | null>;
  /** A move that merges, and waits for the confirmation of the user. */
  readonly question: MergeConfirmation | null;
  readonly confirmMove: (isConfirmed: boolean) => void;
}

/** Moves cards outside of the board, after a question where the move merges. Outcomes are announced. */
export function useMoveToTop(projectId: string, stages: readonly Stage[]): MoveToTop {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const send = useMove(projectId);
  const states = useMoveStates();
  const [asked, setAsked] = useState<{
    readonly question: MergeConfirmation;
    readonly answer: (isConfirmed: boolean) => void;
  } | null>(null);

  const isWanted = async (request: MoveRequest, stage: Stage): Promise<boolean> => {
    if (stage.rule.type !== "merge") return true;
    const { number, from } = request;
    const plan = freshPlan(queries, keys, number, stage.id) ?? (await readPlan(client, number, stage.id));
    if (!needsConfirmation(plan)) return true;
    const skipped = skippedMerges(stages, from.statusId, stage.id);
    return new Promise((answer) => setAsked({ question: { request, plan, skipped }, answer }));
  };
  return {
    move: async (card, stage) => {
      const key = keyToRepeat(states.get(card.number), card, stage) ?? crypto.randomUUID();
      const request = requestOf(card, stage, key);
      if (!(await isWanted(request, stage))) return null;
      const outcome = await send(request);
      if (outcome.state === "moved") toast(noticeOf(request, outcome.effects));
      else if (outcome.state === "queued") toast({ title: sentenceOf(request, outcome) });
      else announce(sentenceOf(request, outcome));
      await queries.invalidateQueries({ queryKey: keys.card(card.number), exact: true });
      return outcome;
    },
    question: asked?.question ?? null,
    confirmMove: (isConfirmed) => {
      setAsked(null);
      asked?.answer(isConfirmed);
    },
  };
}

/** The idempotency key of the last move, if this is the same move and the outcome is not known. */
function keyToRepeat(last: MoveState | undefined, card: MovedCard, stage: Stage): string | null {
  const outcome = last?.outcome;
  if (outcome?.state !== "failed" || !outcome.canRetry || outcome.shownIn !== card.statusId) return null;
  return last?.request.to.statusId === stage.id ? last.request.key : null;
}

/** Without the board the card above is unknown; a move to the top does not need it. */
const requestOf = ({ number, statusId }: MovedCard, stage: Stage, key: string): MoveRequest => ({
  number,
  from: { statusId, above: null },
  to: { statusId: stage.id, above: null, index: 0 },
  stageName: stage.name,
  usesGit: stage.rule.type !== "none",
  key,
});
