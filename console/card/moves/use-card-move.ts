import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type RefObject } from "react";
import { messageOf } from "../../api/problem.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { noticeOf, sentenceOf, type MoveRequest } from "../../board/moves/move.ts";
import { freshPlan, needsConfirmation, readPlan } from "../../board/moves/plan.ts";
import { skippedMerges } from "../../board/moves/skipped-merges.ts";
import { useMove, useMoveStates } from "../../board/moves/use-move.ts";
import type { MergeConfirmation } from "../../board/moves/use-request-move.ts";
import { useAnnounce } from "../../components/announcer.tsx";
import { useToast } from "../../components/toast.tsx";
import type { Stage } from "./plan.tsx";

export interface CardMove {
  /** The stage that the card is on its way to, also if the move began on the board. */
  readonly pendingId: string | null;
  /** Why the last attempt has no outcome: no response, or GitHub does not respond. A refusal is on the card. */
  readonly problem: string | null;
  /** A move that merges, and waits for the confirmation of the user. */
  readonly question: MergeConfirmation | null;
  /** The element that shows a refusal, which receives the focus after one. */
  readonly refusal: RefObject<HTMLElement | null>;
  ask(stage: Stage): void;
  confirmMove(isConfirmed: boolean): void;
}

/** Moves the open card to the top of a stage, after a question where the move merges. Outcomes are announced. */
export function useCardMove(card: CardSnapshot, stages: readonly Stage[]): CardMove {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const send = useMove(card.projectId);
  const last = useMoveStates().get(card.number);
  const [question, setQuestion] = useState<MergeConfirmation | null>(null);
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
  const run = async (request: MoveRequest): Promise<void> => {
    const ended = await send(request);
    if (ended.state === "moved") toast(noticeOf(request, ended.effects));
    else announce(sentenceOf(request, ended));
    setIsRefusalNew(ended.state === "refused");
    await queries.invalidateQueries({ queryKey: keys.card(card.number), exact: true });
  };
  const ask = async (stage: Stage): Promise<void> => {
    const isRepeated = failed?.canRetry === true && last?.request.to.statusId === stage.id;
    const request = requestOf(card, stage, isRepeated ? last.request.key : crypto.randomUUID());
    setFailure(null);
    if (stage.rule.type !== "merge") return run(request);
    try {
      const known = freshPlan(queries, keys, card.number, stage.id);
      const plan = known ?? (await readPlan(client, card.number, stage.id));
      if (needsConfirmation(plan))
        setQuestion({ request, plan, skipped: skippedMerges(stages, card.statusId, stage.id) });
      else await run(request);
    } catch (error) {
      announce(messageOf(error));
      setFailure(messageOf(error));
    }
  };
  return {
    pendingId: outcome === null ? (last?.request.to.statusId ?? null) : null,
    problem: failure ?? failed?.message ?? null,
    question,
    refusal,
    ask: (stage) => void ask(stage),
    confirmMove: (isConfirmed) => {
      setQuestion(null);
      if (question && isConfirmed) void run(question.request);
    },
  };
}

/** Without the board the card above is unknown; a move to the top does not need it. */
const requestOf = (card: CardSnapshot, stage: Stage, key: string): MoveRequest => ({
  number: card.number,
  from: { statusId: card.statusId, above: null },
  to: { statusId: stage.id, above: null, index: 0 },
  stageName: stage.name,
  usesGit: stage.rule.type !== "none",
  key,
});
