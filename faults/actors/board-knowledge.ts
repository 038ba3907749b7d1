import type { TestBoard } from "../../test/support/world.ts";

/** What the agents of a board know from responses so far. They share it. */
export interface BoardKnowledge {
  readonly board: TestBoard;
  readonly cards: number[];
  readonly labels: string[];
  readonly releases: string[];
  /** The number of texts made so far, which makes each unique. */
  count: number;
}

export const newKnowledge = (board: TestBoard): BoardKnowledge => ({
  board,
  cards: [],
  labels: [],
  releases: [],
  count: 0,
});

/** A unique text that names its board. Credentials of other boards must never read it. */
export function uniqueText(knowledge: BoardKnowledge, what: string): string {
  knowledge.count += 1;
  return `${what} ${knowledge.count} only-${knowledge.board.owner}`;
}
