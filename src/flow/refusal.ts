/** Why a card may not move, in the vocabulary of the API (`blocked.reason`). */
export const REFUSAL_REASONS = [
  "conflicts",
  "checks_failing",
  "checks_pending",
  "nothing_to_merge",
  "review_required",
  "changes_requested",
  "behind_base",
  "protected",
  "not_permitted",
  "pull_request_closed",
  "branch_missing",
  "head_moved",
  "queue_rejected",
  "unknown",
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** One refusal. `message` is the forge's wording, verbatim, where it gave one. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** What can be counted or named: check names, numbers of reviews. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The forge's merge queue has let a pull request go without landing it; its word for why, or `unknown`. */
export const queueRejected = (word: string): Refusal => ({
  reason: "queue_rejected",
  message: `The forge's merge queue threw the pull request out: ${word}`,
  details: { reason: word },
});
