/**
 * What happens on a forge, in Trunkline's own words. The adapter translates a delivery into one of these at the door; no
 * payload type goes further. Times are the forge's own (ISO 8601 UTC) where it gives one, else null.
 */
import type { InspectedCheck, NewestCommit, ReviewState } from "./pull-requests.ts";
import type { ForgeAccount, ForgeRepository } from "./values.ts";

interface FromRepository {
  readonly installationId: number | null;
  readonly repository: ForgeRepository;
  /** Null when the account is gone. */
  readonly sender: ForgeAccount | null;
  readonly at: string | null;
  /**
   * No webhook reported it: a comparison of the stored state with the forge found it. It happened
   * at `at` or before.
   */
  readonly isFound?: true;
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
  /** What stands for who pushed and when, of a push that was found. */
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
  /** Null when the account is gone. */
  readonly author: ForgeAccount | null;
  readonly isDraft: boolean;
  readonly headBranch: string;
  readonly headSha: string;
  /** The forge id of the repository the head branch lives in, null when that fork is gone. */
  readonly headRepositoryId: number | null;
  readonly targetBranch: string;
  readonly mergeSha: string | null;
  readonly mergedBy: ForgeAccount | null;
  /** It contradicts itself, as closed and open at once: the forge must be asked. */
  readonly isDoubtful: boolean;
  /** The forge's word for why a queue threw it out; only on `dequeued`. */
  readonly reason: string | null;
}

export interface CheckReported extends FromRepository, InspectedCheck {
  readonly type: "check_reported";
  readonly sha: string;
  /** Grows from report to report of one series. */
  readonly forgeId: number;
  readonly branchNames: readonly string[];
}

/**
 * What checks and statuses say on a commit, where a comparison found that no webhook had reported
 * it.
 */
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
  /** Of the pull request, which may not be known yet. */
  readonly headBranch: string;
  readonly headRepositoryId: number | null;
  readonly reviewId: number;
  readonly state: ReviewState;
  readonly body: string;
}

/** A comment on a pull request's conversation. `at` is when it was last changed. */
export interface Commented extends FromRepository {
  readonly type: "commented";
  readonly action: "created" | "edited" | "deleted";
  /** The pull request's. */
  readonly number: number;
  readonly commentId: number;
  /** Who wrote it, whoever changed it; null when the account is gone. */
  readonly author: ForgeAccount | null;
  readonly body: string;
  readonly writtenAt: string | null;
}

/** A repository has another name, owner or default branch, is gone, or may be written to (no more): it must be read. */
export interface RepositoryChanged extends FromRepository {
  readonly type: "repository_changed";
}

export type ForgeEvent =
  | Pushed
  | PullRequestEvent
  | CheckReported
  | ChecksFound
  | ReviewSubmitted
  | Commented
  /** An account's installation, or what it grants, has changed: what it is now must be read. */
  | { readonly type: "installation_changed"; readonly installationId: number }
  | RepositoryChanged
  /** Nothing that concerns us: answered, kept, left alone. */
  | { readonly type: "irrelevant" };
