import type { ChecksState } from "./checks.ts";

/** What a card's branch looks like in one repository, as the forge last said. */
export interface BranchFacts {
  /** The branch aimed at; `sha` is null where it does not exist (an empty repository included). */
  readonly target: { readonly name: string; readonly sha: string | null };
  /** The tip of the card's branch, null where there is none. */
  readonly headSha: string | null;
  /** How many commits the branch has that the target lacks; null when either is missing. */
  readonly aheadBy: number | null;
  /** Pull requests from the card's branch in this same repository, newest first. */
  readonly pullRequests: readonly PullRequestFacts[];
}

export interface PullRequestFacts {
  readonly number: number;
  /** The forge's opaque handle, needed to mark it ready. */
  readonly nodeId: string;
  readonly state: "open" | "closed" | "merged";
  readonly isDraft: boolean;
  readonly targetBranch: string;
  readonly headSha: string;
  /** `unknown` while the forge is still working it out. */
  readonly mergeable: "mergeable" | "conflicting" | "unknown";
  readonly reviewDecision: "approved" | "changes_requested" | "review_required" | null;
  readonly isInMergeQueue: boolean;
  readonly mergeSha: string | null;
  /** As far as the forge tells. An App's merge is never shown as a person's, unless a queue made it. */
  readonly isMergedByPerson: boolean;
  readonly checks: ChecksSummary;
}

/** The checks and statuses of one commit, as one state and the names that explain it. */
export interface ChecksSummary {
  readonly state: ChecksState;
  readonly failing: readonly string[];
  readonly pending: readonly string[];
}
