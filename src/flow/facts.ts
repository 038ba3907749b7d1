import type { ChecksState } from "./checks.ts";

/** The state of a card's branch in one repository, as last read from GitHub. */
export interface BranchFacts {
  /** `sha` is null when the branch does not exist, for example in an empty repository. */
  readonly target: { readonly name: string; readonly sha: string | null };
  /** The head of the card's branch; null if the branch does not exist. */
  readonly headSha: string | null;
  /** How many commits the branch has that the target lacks; null when either is missing. */
  readonly aheadBy: number | null;
  /** How many commits the target has that the branch lacks; absent or null if unknown. */
  readonly behindBy?: number | null;
  /** The commits counted by `aheadBy`; null if they were not asked for or could not all be read. */
  readonly commits?: readonly CommitFacts[] | null | undefined;
  /** The checks that the target requires, if they were asked for. */
  readonly requiredChecks?: readonly string[] | undefined;
  /** From the card's branch in this repository, not from a fork. Newest first. */
  readonly pullRequests: readonly PullRequestFacts[];
}

export interface CommitFacts {
  readonly sha: string;
  /** The forge ids of the author and co-authors; null for one without a known account. */
  readonly authorIds: readonly (number | null)[];
}

export interface PullRequestFacts {
  readonly number: number;
  /** GitHub's GraphQL id. */
  readonly nodeId: string;
  readonly state: "open" | "closed" | "merged";
  /** It has no commits, because its branch was reset to its target. It cannot be reopened. */
  readonly isEmptied?: boolean;
  readonly isDraft: boolean;
  readonly targetBranch: string;
  readonly headSha: string;
  /** `unknown` while GitHub computes it. */
  readonly mergeable: "mergeable" | "conflicting" | "unknown";
  readonly reviewDecision: "approved" | "changes_requested" | "review_required" | null;
  readonly isInMergeQueue: boolean;
  readonly mergeSha: string | null;
  /**
   * Whether GitHub names a person as the one who merged. For a merge by the App it does so only in
   * a merge queue.
   */
  readonly isMergedByPerson: boolean;
  readonly checks: ChecksSummary;
  /** The required checks that have not passed on the head, if they were asked for. */
  readonly unmetChecks?: readonly string[] | undefined;
}

/** The checks and statuses of one commit: their combined state and the names that explain it. */
export interface ChecksSummary {
  readonly state: ChecksState;
  readonly failing: readonly string[];
  readonly pending: readonly string[];
}
