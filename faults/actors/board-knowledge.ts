import type { TestBoard } from "../../test/support/world.ts";

/** What the agents of a board have learnt from answers so far, shared by them. */
export interface BoardKnowledge {
  readonly board: TestBoard;
  readonly cards: number[];
  readonly labels: string[];
  readonly releases: string[];
  /** Names handed out, so that no two things of a run are called alike. */
  count: number;
}

export const newKnowledge = (board: TestBoard): BoardKnowledge => ({
  board,
  cards: [],
  labels: [],
  releases: [],
  count: 0,
});

/** A text nobody else writes, which tells its board: what another board's credential must never see. */
export function ownText(knowledge: BoardKnowledge, what: string): string {
  knowledge.count += 1;
  return `${what} ${knowledge.count} only-${knowledge.board.owner}`;
}
