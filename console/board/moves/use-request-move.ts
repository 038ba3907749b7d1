import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { findCard, type BoardSnapshot } from "../../api/patch-board.ts";
import type { Flow, MovePlan } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { useToast } from "../../components/toast.tsx";
import { noticeOf, sentenceOf, type MoveOutcome, type MoveRequest } from "./move.ts";
import { freshPlan, needsConfirmation, readPlan } from "./plan.ts";
import { outcomeOf } from "./send-move.ts";
import { cardAbove } from "./show-moves.ts";
import { skippedMerges } from "./skipped-merges.ts";
import { useMove } from "./use-move.ts";

type Stage = Flow["stages"][number];

/** A move that would merge and waits for the user's confirmation. */
export interface MergeConfirmation {
  readonly request: MoveRequest;
  readonly plan: MovePlan;
  /** The branches that the move leaves out, each as a sentence. */
  readonly skipped: readonly string[];
}

interface Options {
  readonly projectId: string;
  /** The columns on the page, as they are cached. */
  readonly readBoard: () => BoardSnapshot | undefined;
  readonly stages: readonly Stage[];
  readonly focusCard: (number: number) => void;
}

/**
 * Moves cards for drag, menu, keyboard and undo. Before a move into a stage that merges, it reads the plan, and asks for
 * confirmation if the move may merge.
 */
export function useRequestMove({ projectId, readBoard, stages, focusCard }: Options) {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const send = useMove(projectId);
  const [question, setQuestion] = useState<MergeConfirmation | null>(null);
  /** The card whose plan is being read. */
  const [planningCard, setPlanningCard] = useState<number | null>(null);
  /** Cards whose move has been requested but not sent, because its plan is being read. */
  const planning = useRef(new Set<number>());

  const isPending = (number: number): boolean =>
    queries.isMutating({
      mutationKey: keys.moves,
      predicate: ({ state }) => (state.variables as MoveRequest).number === number,
    }) > 0;
  const sendAndAnnounce = async (request: MoveRequest): Promise<void> => {
    if (request.usesGit && !request.outcomeBeforeCall)
      announce(`Moving card #${request.number} to ${request.stageName} …`);
    const sent = send(request);
    focusCard(request.number);
    const outcome = await sent;
    // The element that a dialog returns the focus to may be gone.
    if (outcome.state !== "moved" || document.activeElement === document.body) focusCard(request.number);
    if (outcome.state !== "moved") announce(sentenceOf(request, outcome));
    else
      toast({ ...noticeOf(request, outcome.effects), ...(canUndo(request) && { action: undoOf(request) }) });
  };
  /** Effects on GitHub are not undone, so a move with effects cannot be undone. */
  const canUndo = ({ from, usesGit }: MoveRequest): boolean => {
    const before = stages.find(({ id }) => id === from.statusId);
    return !usesGit && before !== undefined && before.rule.type !== "merge";
  };
  const undoOf = ({ number, from, to }: MoveRequest) => ({
    label: "Undo",
    run: () => move(number, from.statusId, from.above, to),
  });
  /** The plan of a move to a stage that merges, or the outcome if it cannot be read. Other moves are sent without one. */
  const planFor = async (request: MoveRequest, stage: Stage): Promise<MovePlan | MoveOutcome | null> => {
    const { number, from, to } = request;
    if (from.statusId === to.statusId) return null;
    if (stage.rule.type !== "merge") return null;
    setPlanningCard(number);
    try {
      const known = freshPlan(queries, keys, number, to.statusId);
      return known ?? (await readPlan(client, number, to.statusId));
    } catch (error) {
      return outcomeOf(error, from.statusId);
    } finally {
      setPlanningCard(null);
    }
  };
  /**
   * Moves a card below `above`, or to the top of the column. `from` is where the card is expected, by default its place
   * on the board.
   */
  const move = (number: number, statusId: string, above: number | null, from?: MoveRequest["from"]): void => {
    const board = readBoard();
    const stage = stages.find(({ id }) => id === statusId);
    if (!board || !stage) return;
    if (isPending(number) || planning.current.has(number)) {
      announce(`Card #${number} is already being moved.`);
      return;
    }
    const request = describeMove(board, { number, stage, above, from });
    if (request) void planAndSend(request, stage);
  };
  const planAndSend = async (request: MoveRequest, stage: Stage): Promise<void> => {
    const { number } = request;
    planning.current.add(number);
    try {
      const plan = await planFor(request, stage);
      if (plan && "state" in plan) return await sendAndAnnounce({ ...request, outcomeBeforeCall: plan });
      if (plan && needsConfirmation(plan)) return setQuestion(withSkipped(request, plan));
      await sendAndAnnounce(request);
    } finally {
      planning.current.delete(number);
    }
  };
  const withSkipped = (request: MoveRequest, plan: MovePlan): MergeConfirmation => ({
    request,
    plan,
    skipped: skippedMerges(stages, request.from.statusId, request.to.statusId),
  });
  const retry = (request: MoveRequest): void => {
    const stage = stages.find(({ id }) => id === request.to.statusId);
    const { outcomeBeforeCall: _, ...again } = request;
    if (stage && !isPending(request.number)) void planAndSend(again, stage);
  };
  const confirmMove = (isConfirmed: boolean): void => {
    setQuestion(null);
    if (!question) return;
    if (isConfirmed && !isPending(question.request.number)) void sendAndAnnounce(question.request);
    else focusCard(question.request.number);
  };
  return { move, retry, question, confirmMove, planningCard };
}

interface Wanted {
  readonly number: number;
  readonly stage: Stage;
  readonly above: number | null;
  readonly from: MoveRequest["from"] | undefined;
}

/** The request of a move; null if the card is there already. */
function describeMove(board: BoardSnapshot, wanted: Wanted): MoveRequest | null {
  const { number, stage, above } = wanted;
  const found = findCard(board, number);
  const shown = found && { statusId: found.column.statusId, above: cardAbove(board, number) };
  const from = wanted.from ?? shown;
  if (!from) return null;
  const isSameStage = from.statusId === stage.id;
  if (isSameStage && (from.above === above || above === number)) return null;
  const column = board.columns.find(({ statusId }) => statusId === stage.id);
  const others = (column?.tasks ?? []).filter((task) => task.number !== number);
  const index = above === null ? 0 : others.findIndex((task) => task.number === above) + 1;
  return {
    number,
    from: { statusId: from.statusId, above: from.above },
    to: { statusId: stage.id, above, index: above !== null && index === 0 ? others.length : index },
    stageName: stage.name,
    usesGit: !isSameStage && (stage.rule.type !== "none" || stage.gates?.secondPerson === true),
    key: crypto.randomUUID(),
  };
}
