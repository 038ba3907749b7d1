import { useMutation, useMutationState, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { findCard, placeCard, putCard, type BoardSnapshot } from "../../api/patch-board.ts";
import type { Card } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import type { MoveOutcome, MoveRequest, MoveState, MoveStates } from "./move.ts";
import { moveDraft } from "./move-draft.ts";
import { sendMove } from "./send-move.ts";

/**
 * Makes a move and keeps the cached board current with its outcome. The state of each move is in the mutation cache, so
 * that it survives when another screen is opened.
 */
export function useMove(projectId: string): (request: MoveRequest) => Promise<MoveOutcome> {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const boardKey = keys.board(projectId);
  const patch = (change: (board: BoardSnapshot) => BoardSnapshot): void =>
    void queries.setQueryData<BoardSnapshot>(boardKey, (board) => board && change(board));
  const read = (): BoardSnapshot | undefined => queries.getQueryData<BoardSnapshot>(boardKey);
  const { mutateAsync } = useMutation<MoveOutcome, Error, MoveRequest>({
    mutationKey: keys.moves,
    networkMode: "always",
    gcTime: Number.POSITIVE_INFINITY,
    mutationFn: async (request) => {
      if (request.outcomeBeforeCall) return request.outcomeBeforeCall;
      const { number, to } = request;
      const before = taskIn(read(), number);
      const outcome = await sendMove(client, request, (card) =>
        patch((board) => (card.feedSeq >= board.feedSeq ? putCard(board, card as Card) : board)),
      );
      if (outcome.state === "moved") {
        queries.setQueryData<readonly Card[]>(
          keys.backlog(projectId),
          (drafts) => drafts && moveDraft(drafts, request),
        );
      }
      // A card that the feed has changed in the meantime is where the feed puts it.
      if (outcome.state === "moved" && before && before === taskIn(read(), number)) {
        patch((board) => placeCard(board, before, to.statusId, { above: to.above }));
      }
      if (outcome.state !== "moved") {
        void queries.invalidateQueries({ queryKey: keys.refusals(projectId) });
        void queries.invalidateQueries({ queryKey: keys.card(number) });
      }
      return outcome;
    },
  });
  return mutateAsync;
}

const taskIn = (board: BoardSnapshot | undefined, number: number) => board && findCard(board, number)?.task;

/** The newest move of each card that was moved from this page. */
export function useMoveStates(): MoveStates {
  const { keys } = useWorkspace();
  const moves = useMutationState<MoveState>({
    filters: { mutationKey: keys.moves },
    select: ({ state }) => ({
      request: state.variables as MoveRequest,
      outcome: (state.data as MoveOutcome | undefined) ?? null,
    }),
  });
  return useMemo(() => new Map(moves.map((move) => [move.request.number, move])), [moves]);
}

/** Removes the ended moves of a card, so that the card no longer shows their outcome. */
export function useForgetMoves(): (number: number) => void {
  const { keys } = useWorkspace();
  const moves = useQueryClient().getMutationCache();
  return useCallback(
    (number) => {
      for (const move of moves.findAll({ mutationKey: keys.moves })) {
        const isOfCard = (move.state.variables as MoveRequest).number === number;
        if (isOfCard && move.state.status !== "pending") moves.remove(move);
      }
    },
    [moves, keys],
  );
}
