import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Flow, MovePlan } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { useToast, type Notice } from "../../components/toast.tsx";
import { noticeOf, sentenceOf, type MoveOutcome, type MoveRequest } from "./move.ts";
import { freshPlan, needsConfirmation, readPlan } from "./plan.ts";
import { outcomeOf } from "./send-move.ts";
import { skippedMerges } from "./skipped-merges.ts";
import { useMove } from "./use-move.ts";

type Stage = Flow["stages"][number];

/** A move that waits for the user's answer, because it may merge, or takes back a card whose work has landed. */
export interface MoveQuestion {
  readonly request: MoveRequest;
  /** Null for a card that has landed. */
  readonly plan: MovePlan | null;
  /** The branches that the move leaves out, each as a sentence. */
  readonly skipped: readonly string[];
}

interface Options {
  readonly projectId: string;
  readonly stages: readonly Stage[];
  /** Called when the move is sent, when it has ended, and with null if the user decides against it. */
  readonly onStep?: (request: MoveRequest, outcome: MoveOutcome | "sent" | null) => void;
  /** What takes a move without effects on GitHub back. */
  readonly undoOf?: (request: MoveRequest) => Notice["action"];
}

/**
 * The one way in which the console moves a card, for drag, menu, keyboard, undo, card page and inbox: reads the plan of a
 * move that may merge, asks, sends it once, and says how it ended.
 */
export function useAskMove({ projectId, stages, onStep = () => undefined, undoOf }: Options) {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const send = useMove(projectId);
  const [asked, setAsked] = useState<{
    readonly question: MoveQuestion;
    readonly answer: (isConfirmed: boolean) => void;
  } | null>(null);
  /** The card whose plan is being read. */
  const [planningCard, setPlanningCard] = useState<number | null>(null);
  /** Cards whose move has been asked for and not ended. */
  const open = useRef(new Set<number>());

  const isPending = (number: number): boolean =>
    queries.isMutating({
      mutationKey: keys.moves,
      predicate: ({ state }) => (state.variables as MoveRequest).number === number,
    }) > 0;
  /** The plan of a move to a stage that merges, or the outcome if it cannot be read. Other moves need none. */
  const planFor = async ({ number, from, to }: MoveRequest): Promise<MovePlan | MoveOutcome | null> => {
    const stage = stages.find(({ id }) => id === to.statusId);
    if (from.statusId === to.statusId || stage?.rule.type !== "merge") return null;
    setPlanningCard(number);
    try {
      return freshPlan(queries, keys, number, stage.id) ?? (await readPlan(client, number, stage.id));
    } catch (error) {
      return outcomeOf(error, from.statusId);
    } finally {
      setPlanningCard((current) => (current === number ? null : current));
    }
  };
  const isWanted = (request: MoveRequest, plan: MovePlan | null): Promise<boolean> | true => {
    if (plan ? !needsConfirmation(plan) && !mayMergeLater(request, plan) : !takesBack(stages, request))
      return true;
    const skipped = plan ? skippedMerges(stages, request.from.statusId, request.to.statusId) : [];
    return new Promise((answer) =>
      setAsked((before) => {
        // Only one question is shown: the newest one.
        before?.answer(false);
        return { question: { request, plan, skipped }, answer };
      }),
    );
  };
  const sendAndSay = async (request: MoveRequest): Promise<MoveOutcome> => {
    if (request.usesGit && !request.outcomeBeforeCall)
      announce(`Moving card #${request.number} to ${request.stageName} …`);
    const sent = send(request);
    onStep(request, "sent");
    const outcome = await sent;
    onStep(request, outcome);
    if (outcome.state !== "moved") announce(sentenceOf(request, outcome));
    else {
      const action = request.usesGit ? undefined : undoOf?.(request);
      toast({ ...noticeOf(request, outcome.effects), ...(action && { action }) });
    }
    await queries.invalidateQueries({ queryKey: keys.card(request.number), exact: true });
    return outcome;
  };
  /** The outcome is null if the user decides against the move, or the card is being moved. */
  const ask = async (request: MoveRequest): Promise<MoveOutcome | null> => {
    const { number } = request;
    if (isPending(number) || open.current.has(number)) {
      announce(`Card #${number} is already being moved.`);
      return null;
    }
    open.current.add(number);
    try {
      const plan = await planFor(request);
      if (plan && "state" in plan) return await sendAndSay({ ...request, outcomeBeforeCall: plan });
      if (await isWanted(request, plan)) return await sendAndSay(request);
      onStep(request, null);
      return null;
    } finally {
      open.current.delete(number);
    }
  };
  return {
    ask,
    planningCard,
    question: asked?.question ?? null,
    confirmMove: (isConfirmed: boolean): void => {
      setAsked(null);
      asked?.answer(isConfirmed);
    },
  };
}

/** A move that waits until it is ready merges by itself then, whatever its plan says now. */
const mayMergeLater = ({ waits }: MoveRequest, { steps }: MovePlan): boolean =>
  waits === true && steps.length > 0;

/** Whether a card whose work has landed goes to a stage before the merge. */
function takesBack(stages: readonly Stage[], { from, to, hasLanded }: MoveRequest): boolean {
  const at = (statusId: string): number => stages.findIndex(({ id }) => id === statusId);
  return hasLanded && stages[at(from.statusId)]?.rule.type === "merge" && at(to.statusId) < at(from.statusId);
}
