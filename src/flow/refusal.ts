/** Why a card may not move: the values of `blocked.reason`. */
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
  "wip_limit",
  "human_only",
  "needs_second_person",
  "unknown",
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface Refusal {
  readonly reason: RefusalReason;
  /** GitHub's text, verbatim, if it gave one. */
  readonly message: string;
  /** For programs, such as check names or the number of required reviews. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Whether GitHub or the flow refused what was asked: a result of another kind has no `reason`. */
export const isRefusal = (result: object): result is Refusal => "reason" in result;

/** GitHub's merge queue removed a pull request without merging it; `reason` is GitHub's. */
export const queueRejected = (reason: string): Refusal => ({
  reason: "queue_rejected",
  message: `GitHub's merge queue removed the pull request: ${reason}. Correct the cause, then move the card again.`,
  details: { reason },
});

/** One cause in one repository. */
export interface BlockedReason {
  readonly reason: RefusalReason;
  readonly message: string;
  /** The repository's full name; empty for a gate that concerns none. */
  readonly repository: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Why the last move of a card was refused. The fields at the top repeat the first of `reasons`. */
export interface Blocked extends Omit<BlockedReason, "details"> {
  readonly reasons: readonly BlockedReason[];
  /** The stage that the card could not enter. */
  readonly statusId: string;
  /** The head commit that was refused; null if it does not exist or was not read. */
  readonly headSha: string | null;
  /** ISO 8601 UTC. */
  readonly at: string;
}

export const blockedReason = (repository: string, refusal: Refusal): BlockedReason => ({
  reason: refusal.reason,
  message: refusal.message,
  repository,
  details: refusal.details ?? {},
});

/** Why the App cannot use a repository, or a card cannot use its link. */
export const CONNECTION_FAULTS = [
  "uninstalled",
  "suspended",
  "refused",
  "not_granted",
  "archived",
  "other_project",
] as const;
export type ConnectionFault = (typeof CONNECTION_FAULTS)[number];

/** `archived` is GitHub's own text. For `refused`, GitHub's text is shown where it is known. */
export const CONNECTION_MESSAGES: Readonly<Record<ConnectionFault, string>> = {
  uninstalled: "The App is not installed on this account. Install it again.",
  suspended:
    "The App is suspended on this account. An owner of the account can lift the suspension in its settings on GitHub.",
  refused: "GitHub refuses the App access to this account. Check the App's installation on GitHub.",
  not_granted:
    "The App has no access to this repository, or the repository is deleted. Grant access again, or remove the repository from the project.",
  archived: "Repository was archived so is read-only.",
  other_project:
    "The repository does not belong to the card's project any more. Add it to the project again, or unlink the card from it.",
};

/** Why a repository cannot be used, with its name. `broken` is null if the cause is not known. */
export const inaccessibleMessage = ({
  fullName,
  broken,
}: {
  readonly fullName: string;
  readonly broken: ConnectionFault | null;
}): string => `${fullName}: ${CONNECTION_MESSAGES[broken ?? "not_granted"]}`;

export const connectionRefusal = (broken: ConnectionFault): Refusal => ({
  reason: "not_permitted",
  message: CONNECTION_MESSAGES[broken],
  details: { connection: broken },
});

/** Whether a refusal is due to a broken connection and clears when the repository can be used again. */
export const isConnectionRefusal = ({ details }: Pick<Refusal, "details">): boolean =>
  details !== undefined && "connection" in details;
