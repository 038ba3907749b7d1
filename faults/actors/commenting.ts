import type { BoardKnowledge } from "./board-knowledge.ts";

/** A comment that was acknowledged to a tool or to a page of the console. */
export interface AcknowledgedComment {
  readonly id: string;
  readonly body: string;
  /** Unix time of the response in milliseconds. */
  readonly at: number;
}

/** What those who comment on the cards of a board need, and what they record. */
export interface Commenting {
  readonly own: BoardKnowledge;
  readonly comments: AcknowledgedComment[];
  /** Attempts that failed and were repeated. */
  readonly failed: string[];
  /** Requests that were repeated without success. */
  readonly withoutResponse: string[];
  /** Between two comments, in milliseconds. */
  readonly pauseMs: number;
  readonly isOver: () => boolean;
  /** Unix time in milliseconds after which nothing is repeated. */
  readonly retryUntil: () => number;
}
