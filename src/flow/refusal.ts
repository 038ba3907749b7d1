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

/** One thing in a card's way, in one of its repositories. */
export interface BlockedReason {
  readonly reason: RefusalReason;
  readonly message: string;
  /** The repository's full name. */
  readonly repository: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Why the last promotion of a card was refused. The first reason is also told at the top. */
export interface Blocked {
  readonly reason: RefusalReason;
  readonly message: string;
  readonly repository: string;
  readonly reasons: readonly BlockedReason[];
  /** The stage it could not enter. */
  readonly statusId: string;
  /** The head commit that was refused, null where the branch has none. */
  readonly headSha: string | null;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** A refusal in a repository, as an item of `reasons`. */
export const blockedReason = (repository: string, refusal: Refusal): BlockedReason => ({
  reason: refusal.reason,
  message: refusal.message,
  repository,
  details: refusal.details ?? {},
});

/** Why nothing may be done in a repository. */
export const BROKEN_KINDS = [
  "uninstalled",
  "suspended",
  "refused",
  "not_granted",
  "archived",
  "other_project",
] as const;
export type Broken = (typeof BROKEN_KINDS)[number];

/** What each means, and what to do about it. Of `refused` the forge's own words are told, and GitHub's are those of `archived`. */
export const BROKEN_WORDS: Readonly<Record<Broken, string>> = {
  uninstalled: "The App is not installed on this account any more. Install it again.",
  suspended:
    "The App is suspended on this account. An owner of the account can lift that in its settings on the forge.",
  refused: "The forge refuses the App access to this account.",
  not_granted:
    "The App is not granted this repository any more, or it is gone. Grant it again, or take it out of the project.",
  archived: "Repository was archived so is read-only.",
  other_project:
    "The repository does not belong to the card's project any more. Add it to the project again, or unlink the card from it.",
};

/** The refusal of whatever is asked in such a repository. */
export const brokenRefusal = (broken: Broken): Refusal => ({
  reason: "not_permitted",
  message: BROKEN_WORDS[broken],
  details: { connection: broken },
});

/** Whether a refusal is about the connection to the forge, and gone once a repository can be asked again. */
export const isAboutConnection = ({ details }: Pick<Refusal, "details">): boolean =>
  details !== undefined && "connection" in details;
