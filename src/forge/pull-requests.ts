import type { RepositoryRef, ForgeRepository, ForgeAccount } from "./values.ts";
import type { CheckOutcome } from "../flow/checks.ts";
import type { BranchFacts, PullRequestFacts } from "../flow/facts.ts";
import type { Refusal } from "../flow/refusal.ts";

export interface BranchQuestion {
  readonly repository: RepositoryRef;
  /** The card's branch; null asks about the target only. */
  readonly branchName: string | null;
  /** The branch the card's work aims at; null is the repository's default branch. */
  readonly targetBranch: string | null;
}

export type BranchAnswer =
  /** The repository cannot be asked: gone, or out of the installation's reach. */
  | { readonly refusal: Refusal }
  | (Omit<BranchFacts, "pullRequests"> & {
      readonly refusal?: undefined;
      readonly repository: ForgeRepository;
      readonly pullRequests: readonly InspectedPullRequest[];
      /** What was said on the pull request of the branch that changed last; null where that was not asked, and where there is none. */
      readonly said: InspectedWords | null;
      /** The commit at the branch's head; null where `isSaidAsked` was not, and where there is none. */
      readonly newest: NewestCommit | null;
    });

export interface InspectOptions {
  /** How many of the newest pull requests of each branch; 20 where it is left out. */
  readonly pullRequests?: number;
  /** What was said there, and who wrote the newest commit. */
  readonly isSaidAsked?: boolean;
}

/** What the commit at a branch's head says of itself: whoever made it may have had it say anything. */
export interface NewestCommit {
  /** The id of the account that wrote it; null where it names none. */
  readonly authorId: number | null;
  /** When it was committed (ISO 8601). */
  readonly at: string | null;
}

/** The newest 20 comments and 20 reviews of a pull request. Times are the forge's (ISO 8601). */
export interface InspectedWords {
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
    /** When it was submitted, or dismissed. */
    readonly at: string | null;
  }[];
}

/** A pull request as it is now, and what of its past the forge tells. Times are the forge's (ISO 8601). */
export interface InspectedPullRequest extends PullRequestFacts {
  readonly title: string;
  readonly openedAt: string | null;
  readonly updatedAt: string | null;
  readonly closedAt: string | null;
  readonly mergedAt: string | null;
  readonly author: ForgeAccount | null;
  readonly mergedBy: ForgeAccount | null;
  /** What the checks of its head say, the newest of each series. */
  readonly reports: readonly InspectedCheck[];
}

export interface InspectedCheck {
  readonly source: "check_run" | "status";
  readonly name: string;
  readonly appId: number | null;
  /** Null where the forge does not tell, as of statuses. */
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
  readonly state: CheckOutcome;
  /** Where a person reads more, if the forge knows such a place. */
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
  /** The login; `ghost` for an account that is gone. */
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
  /** Whether an earlier try may have opened it. */
  readonly isRepeated: boolean;
  /** A number that every earlier pull request of ours is at or below: what we opened above it is this one. Null where that is not known. */
  readonly knownUpTo: number | null;
  /** Whether word of one above that has come by now: then reads only do not show it yet, and nothing is ordered again. */
  readonly isHeardOf: () => Promise<boolean>;
}

export interface OpenedPullRequest {
  readonly number: number;
  readonly nodeId: string;
  readonly isDraft: boolean;
  readonly headSha: string;
  /** Its author's id on the forge, where that is told: one that was open already may be somebody else's. */
  readonly authorId?: number;
  /** Set where an earlier try opened it, at this time (ISO 8601), and somebody has ended it since. */
  readonly ended?: { readonly state: "closed" | "merged"; readonly openedAt: string | null };
}

export interface CommentOrder {
  /** The pull request's. */
  readonly number: number;
  readonly body: string;
  /** How the body begins, and no other comment's does: what an earlier try wrote is known by it. */
  readonly mark: string;
  /** When the first try began (ISO 8601), by the database's clock. */
  readonly triedSince: string;
  /** Whether an earlier try may have had an effect. */
  readonly isRepeated: boolean;
  /** False while an earlier try may have had an effect that reads do not show yet: then it is looked for alone. */
  readonly mayWrite: boolean;
}

export type MergeMethod = "merge" | "squash" | "rebase";

export interface MergeOrder {
  readonly number: number;
  /** The only head commit that may be merged. */
  readonly headSha: string;
  readonly method: MergeMethod;
  /** Where it has to aim, for a pull request whose target was not seen just now: looked at first, since the forge pins no target. */
  readonly targetBranch?: string | undefined;
  /** Title of the commit; without one the repository's settings decide. */
  readonly title?: string | undefined;
  /** What an earlier try of the same merge was told to ask for, from `MergeResult.handle`. */
  readonly handle?: string | undefined;
}

export type MergeResult =
  | { readonly state: "merged"; readonly sha: string }
  /** Somebody made it aim elsewhere: nothing was merged. */
  | { readonly state: "retargeted" }
  /** Somebody was quicker. */
  | { readonly state: "merged_outside" }
  /** Accepted but not finished within the time given, or waiting in the forge's merge queue. */
  | { readonly state: "pending" | "enqueued"; readonly handle: string | null };
