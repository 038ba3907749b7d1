/**
 * What happens on a forge. The adapter translates each delivery into one of these; payload types
 * stay in the adapter. Times are the forge's (ISO 8601 UTC), or null when it gives none. A deleted
 * account is null.
 */
import type { InspectedCheck, NewestCommit, ReviewState } from "./pull-requests.ts";
import type { ForgeAccount, ForgeRepository } from "./values.ts";

interface FromRepository {
  readonly installationId: number | null;
  readonly repository: ForgeRepository;
  readonly sender: ForgeAccount | null;
  readonly at: string | null;
  /** Found by comparing the stored state with the forge, not by a webhook. It happened at `at` or earlier. */
  readonly isFromComparison?: true;
}

export interface Pushed extends FromRepository {
  readonly type: "pushed";
  readonly branchName: string;
  /** Null when the push created the branch. */
  readonly before: string | null;
  /** Null when the push deleted the branch. */
  readonly after: string | null;
  readonly forced: boolean;
  readonly commits: readonly { readonly sha: string; readonly message: string }[];
  /** Of a push that was found: indicates who pushed and when. */
  readonly newest?: NewestCommit | null;
}

export interface PullRequestEvent extends FromRepository {
  readonly type: "pull_request";
  readonly action:
    | "opened"
    | "ready"
    | "converted_to_draft"
    | "synchronized"
    | "retargeted"
    | "closed"
    | "merged"
    | "reopened"
    | "enqueued"
    | "dequeued";
  readonly number: number;
  readonly nodeId: string;
  readonly title: string;
  readonly author: ForgeAccount | null;
  readonly isDraft: boolean;
  readonly headBranch: string;
  readonly headSha: string;
  /** The forge id of the head branch's repository; null for a deleted fork. */
  readonly headRepositoryId: number | null;
  readonly targetBranch: string;
  readonly mergeSha: string | null;
  readonly mergedBy: ForgeAccount | null;
  /** It was closed because its branch was reset to its target, and nothing was merged. */
  readonly isEmptied: boolean;
  /** The payload contradicts itself, for example closed and open: read the pull request instead. */
  readonly isContradictory: boolean;
  /** Only of `dequeued`: the forge's reason for removing it from the merge queue. */
  readonly reason: string | null;
}

export interface CheckReported extends FromRepository, InspectedCheck {
  readonly type: "check_reported";
  readonly sha: string;
  /** The id of the run or status. A later run has a higher one. */
  readonly forgeId: number;
  /** The branches for which it ran; empty if the forge does not say. */
  readonly branchNames: readonly string[];
}

/** The checks and statuses of a commit, found without a webhook. */
export interface ChecksFound extends FromRepository {
  readonly type: "checks_found";
  readonly sha: string;
  readonly reports: readonly InspectedCheck[];
  /** When the forge was asked. */
  readonly askedAt: string;
}

export interface ReviewSubmitted extends FromRepository {
  readonly type: "review_submitted";
  readonly number: number;
  /** Of the pull request, which may not be stored yet. */
  readonly headBranch: string;
  readonly headRepositoryId: number | null;
  readonly reviewId: number;
  readonly state: ReviewState;
  readonly body: string;
}

/** The text of a review changed. `at` is the time of the change. */
export interface ReviewEdited extends FromRepository {
  readonly type: "review_edited";
  readonly number: number;
  readonly reviewId: number;
  /** The account that wrote it, not the one that edited it. */
  readonly author: ForgeAccount | null;
  readonly body: string;
}

/** Somebody resolved a conversation about lines of a pull request, or opened it again. */
export interface ThreadChanged extends FromRepository {
  readonly type: "thread_changed";
  readonly number: number;
}

/** A comment on a pull request's conversation. `at` is the time of its last change. */
export interface Commented extends FromRepository {
  readonly type: "commented";
  readonly action: "created" | "edited" | "deleted";
  /** The pull request's number. */
  readonly number: number;
  readonly commentId: number;
  /** The account that wrote it, not the one that edited it. */
  readonly author: ForgeAccount | null;
  readonly body: string;
  readonly writtenAt: string | null;
}

/** Its name, owner, default branch or archived state changed, or it is deleted: read it. */
export interface RepositoryChanged extends FromRepository {
  readonly type: "repository_changed";
}

export type ForgeEvent =
  | Pushed
  | PullRequestEvent
  | CheckReported
  | ChecksFound
  | ReviewSubmitted
  | ReviewEdited
  | ThreadChanged
  | Commented
  /** An installation or its permissions changed: read it. */
  | { readonly type: "installation_changed"; readonly installationId: number }
  /** A person withdrew what they allowed the App at their sign-in. */
  | { readonly type: "authorization_revoked"; readonly account: ForgeAccount }
  | RepositoryChanged
  /** Stored and ignored. */
  | { readonly type: "irrelevant" };
