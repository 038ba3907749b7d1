import type { RepositoryRef, ForgeRepository, ForgeAccount } from "./values.ts";
import type { CheckOutcome } from "../flow/checks.ts";
import type { BranchFacts, PullRequestFacts } from "../flow/facts.ts";
import type { Flow } from "../flow/flow.ts";
import type { Refusal } from "../flow/refusal.ts";

export interface BranchInspectionRequest {
  readonly repository: RepositoryRef;
  /** The card's branch; null to inspect only the target. */
  readonly branchName: string | null;
  /** Null for the repository's default branch. */
  readonly targetBranch: string | null;
}

/** How many branches one call inspects. Forges limit the time of a call, GitHub to 10 seconds. */
export const BRANCHES_PER_CALL = 25;

export type BranchInspection =
  /** The repository is deleted, archived, or not accessible to the installation. */
  | { readonly refusal: Refusal }
  | (Omit<BranchFacts, "pullRequests"> & {
      readonly refusal?: undefined;
      readonly repository: ForgeRepository;
      readonly pullRequests: readonly InspectedPullRequest[];
      /** Of the pull request that changed last; null without one, or without `includesConversation`. */
      readonly conversation: InspectedConversation | null;
      /** The head commit; null without one, or without `includesConversation`. */
      readonly newest: NewestCommit | null;
    });

export interface InspectOptions {
  /** How many of each branch, the newest ones; 20 by default. */
  readonly maxPullRequests?: number;
  /** Also read comments, reviews and the author of the head commit. */
  readonly includesConversation?: boolean;
  /** Also read what the targets require, and the reviews and conversations of pull requests. */
  readonly includesRules?: boolean;
  /** Also read who wrote the commits that the branches have and their targets lack. */
  readonly includesCommits?: boolean;
  /** Reports on the other branches if GitHub cannot read one, which gets a refusal then. */
  readonly isPartial?: boolean;
}

/** A commit's own metadata, which its author can choose freely. */
export interface NewestCommit {
  /** The forge id of the author's account; null when it names none. */
  readonly authorId: number | null;
  /** ISO 8601. */
  readonly at: string | null;
}

/** The newest 20 comments and 20 reviews of a pull request. Times are in ISO 8601. */
export interface InspectedConversation {
  readonly number: number;
  readonly isAllComments: boolean;
  readonly comments: readonly {
    readonly commentId: number;
    readonly author: ForgeAccount | null;
    readonly body: string;
    readonly writtenAt: string | null;
    readonly changedAt: string | null;
  }[];
  readonly reviews: readonly {
    readonly reviewId: number;
    readonly author: ForgeAccount | null;
    readonly state: Exclude<ReviewState, "pending">;
    readonly body: string;
    /** The time of submission or dismissal. */
    readonly at: string | null;
  }[];
}

/** Times are in ISO 8601. */
export interface InspectedPullRequest extends PullRequestFacts {
  readonly title: string;
  readonly openedAt: string | null;
  readonly updatedAt: string | null;
  readonly closedAt: string | null;
  readonly mergedAt: string | null;
  readonly author: ForgeAccount | null;
  readonly mergedBy: ForgeAccount | null;
  /** The checks of its head, the newest of each series. */
  readonly reports: readonly InspectedCheck[];
}

/** A pull request as the forge lists it. */
export interface ListedPullRequest {
  readonly number: number;
  readonly title: string;
  /** Markdown; empty without one. */
  readonly body: string;
  /** The login; null if the account was deleted. */
  readonly author: string | null;
  readonly state: "open" | "merged" | "closed";
  readonly isDraft: boolean;
  readonly headBranch: string;
  /** Whether its branch is in another repository. */
  readonly isFromFork: boolean;
  readonly targetBranch: string;
  /** The web page. */
  readonly url: string;
  /** ISO 8601. */
  readonly updatedAt: string | null;
}

export interface InspectedCheck {
  /** `check_suite` is one without runs. */
  readonly source: "check_run" | "check_suite" | "status";
  readonly name: string;
  readonly appId: number | null;
  /** The check suite of a run: all runs that one event has started for the App. Null for statuses. */
  readonly suiteId: number | null;
  /** Null for statuses. */
  readonly forgeId: number | null;
  readonly outcome: CheckOutcome;
}

export interface PullRequestQuestion {
  readonly repository: RepositoryRef;
  readonly number: number;
}

export interface CheckDetails {
  readonly id: string;
  readonly name: string;
  /** Of GitHub Actions, if GitHub shows it: the workflow and the event that started it. */
  readonly workflow?: { readonly name: string; readonly event: string };
  readonly state: CheckOutcome;
  readonly url: string | null;
  readonly summary: string | null;
  /** Only of a failing run. */
  readonly notes: readonly CheckNote[];
}

export interface CheckNote {
  readonly path: string;
  readonly line: number;
  readonly level: "notice" | "warning" | "failure";
  readonly message: string;
}

export type ReviewState = "approved" | "changes_requested" | "commented" | "dismissed" | "pending";

export interface Review {
  /** The login; `ghost` for a deleted account. */
  readonly author: string;
  readonly state: ReviewState;
  readonly body: string;
}

export interface PullRequestDraft {
  readonly title: string;
  readonly body: string;
  readonly headBranch: string;
  readonly targetBranch: string;
  readonly isDraft: boolean;
  /** An earlier attempt may have opened it. */
  readonly isRetry: boolean;
  /** Own pull requests above this number are from an earlier attempt; null if unknown. */
  readonly highestKnownNumber: number | null;
  /** Whether a webhook reported one above that number: then it exists, even if it is not listed. */
  readonly isReported: () => Promise<boolean>;
}

export interface OpenedPullRequest {
  readonly number: number;
  readonly nodeId: string;
  readonly isDraft: boolean;
  readonly headSha: string;
  /** The author's forge id: another account may have opened it before. */
  readonly authorId?: number;
  /** Set if it was closed or merged after an earlier attempt opened it. `openedAt` in ISO 8601. */
  readonly ended?: { readonly state: "closed" | "merged"; readonly openedAt: string | null };
}

export interface CommentOrder {
  /** The pull request's number. */
  readonly number: number;
  readonly body: string;
  /** The unique start of the body, by which an earlier attempt's comment is found. */
  readonly mark: string;
  /** When the first attempt started (ISO 8601), by the database's clock. */
  readonly firstAttemptAt: string;
  /** An earlier attempt may have written it. */
  readonly isRetry: boolean;
  /** False to only search for an earlier attempt's comment, which may not be listed yet. */
  readonly mayWrite: boolean;
}

export interface MergeOrder {
  readonly number: number;
  /** The only head commit that may be merged. */
  readonly headSha: string;
  readonly method: Flow["mergeMethod"];
  /** The required target: checked before merging, because the forge cannot pin it. */
  readonly targetBranch?: string | undefined;
  /** The commit title; the repository's settings decide without one. */
  readonly title?: string | undefined;
  /** `MergeResult.handle` of an earlier attempt. */
  readonly handle?: string | undefined;
}

export type MergeResult =
  | { readonly state: "merged"; readonly sha: string }
  /** The pull request has another target now. Nothing was merged. */
  | { readonly state: "retargeted" }
  /** A person merged it. */
  | { readonly state: "merged_outside" }
  /** Not finished in time, or waiting in the forge's merge queue. */
  | { readonly state: "pending" | "enqueued"; readonly handle: string | null };
