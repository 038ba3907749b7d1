import type { ChecksState } from "./checks.ts";
import type { Refusal } from "./refusal.ts";

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
  /**
   * What the target requires of merges, if it was asked for. A refusal if GitHub does not show it:
   * then `requiredChecks` and `unmetChecks` are absent, and a merge is refused with it.
   */
  readonly rules?: TargetRules | Refusal | undefined;
  /** Whether the newest commits of the target have checks, if that was asked for. */
  readonly isLandedWithChecks?: boolean | undefined;
  /** From the card's branch in this repository, not from a fork. Newest first. */
  readonly pullRequests: readonly PullRequestFacts[];
}

/** What is recorded about the head of a card's branch. */
export interface HeadFacts {
  /** Since its push, or since Trunkline first saw it, in milliseconds; null if neither is known. */
  readonly ageMs: number | null;
  /** Since the pull request was marked ready, in milliseconds; 0 until that is recorded, null if it never was a draft. */
  readonly readyAgeMs: number | null;
  /** Whether the card's earlier heads, or others merged into the target, had checks. */
  readonly hadChecks: boolean;
  /** Everybody who is known to have pushed to the branch. */
  readonly pushers: readonly AccountFacts[];
  /** Who pushed the head; null if no event has reported it, or only that the account was deleted. */
  readonly lastPusher: AccountFacts | null;
}

/** What a ruleset or classic protection requires of a merge, whether or not the App may bypass it. */
export interface MergeRules {
  readonly requiredChecks: readonly string[];
  /** How many approving reviews; 0 for none. */
  readonly requiredApprovals: number;
  /** Somebody other than the last pusher has to approve. Not shown for classic protection. */
  readonly requiresLastPushApproval: boolean;
  readonly requiresCodeOwnerReview: boolean;
  readonly requiresResolvedThreads: boolean;
}

/** All rules of a target together. */
export interface TargetRules extends MergeRules {
  readonly sources: readonly RuleSource[];
}

export interface RuleSource extends MergeRules {
  /** GitHub's id of the ruleset; null for classic protection. */
  readonly rulesetId: number | null;
  readonly name: string;
  /** Rules that only GitHub can evaluate, by GitHub's type in lower case, such as `code_scanning`. */
  readonly unevaluated: readonly string[];
  /** Whether the App may merge without meeting the rules; null if GitHub does not say. */
  readonly canBypass: boolean | null;
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
  readonly author?: AccountFacts | null;
  /** GitHub's summary, for the App: `clean` also if the App may bypass what is unmet. */
  readonly mergeState?: MergeState | undefined;
  /** The last approval, request for changes or dismissal of each person with write access. */
  readonly reviews?: readonly ReviewFacts[] | undefined;
  /** Conversations that are not resolved; null if GitHub did not list all. */
  readonly unresolvedThreads?: number | null | undefined;
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

export interface AccountFacts {
  readonly forgeId: number;
  readonly login: string;
}

export interface ReviewFacts {
  /** Null for a deleted account. */
  readonly author: AccountFacts | null;
  readonly state: "approved" | "changes_requested" | "dismissed";
}

export const MERGE_STATES = [
  "clean",
  "has_hooks",
  "unstable",
  "behind",
  "blocked",
  "dirty",
  "draft",
  "unknown",
] as const;
export type MergeState = (typeof MERGE_STATES)[number];

/** The checks and statuses of one commit: their combined state and the names that explain it. */
export interface ChecksSummary {
  readonly state: ChecksState;
  readonly failing: readonly string[];
  readonly pending: readonly string[];
  /** Whether some were skipped. */
  readonly hasSkipped?: boolean | undefined;
  /** Those of `failing` and `pending` that are workflows without runs: they could not start, or wait for approval. */
  readonly unstarted?: readonly string[] | undefined;
  /** Set if GitHub hides some of them from the App: they are not in `state` and the lists. */
  readonly hidden?: Refusal | undefined;
}
