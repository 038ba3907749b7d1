/**
 * The port: the questions and orders Trunkline has for a forge, and nothing else about it. `forge/github` is the adapter.
 *
 * Every method may throw `ForgeUnavailable` when the forge cannot be reached, answers a 5xx, is out of time, limits our calls, or answers in a
 * shape we do not know; the outcome of an order is then unknown and it must be looked at before it is repeated. A refusal of
 * the forge is no exception: orders return it.
 */
import type { CheckOutcome } from "../flow/checks.ts";
import type { BranchFacts, PullRequestFacts } from "../flow/facts.ts";
import type { Refusal } from "../flow/refusal.ts";
import type { Releasing } from "./releasing.ts";

/** What not every repository has, depending on its plan or on the forge's version. */
export type Feature = "drafts" | "async_merge";

export interface RepositoryRef {
  readonly installationId: number;
  /** The forge's own numeric id, which survives renames. */
  readonly forgeId: number;
  /** `owner/name`. */
  readonly fullName: string;
  /** The forge's GraphQL id; null where the listing that tells it was not read yet. */
  readonly nodeId?: string | null;
  /** What it was found to lack lately, by whichever process; nothing is tried that needs it. */
  readonly lacks?: readonly Feature[];
}

export interface ForgeRepository {
  readonly forgeId: number;
  readonly fullName: string;
  readonly defaultBranch: string;
}

export interface GrantedRepository extends ForgeRepository {
  readonly nodeId: string;
  readonly isArchived: boolean;
}

export interface ForgeInstallation {
  readonly installationId: number;
  readonly account: { readonly forgeId: number; readonly login: string };
  readonly suspended: boolean;
  /** What Trunkline needs and the account has not granted, as `workflows: write`. */
  readonly missingPermissions: readonly string[];
}

/** The App as the forge has it: what it asks the accounts that install it for. */
export interface ForgeApp {
  readonly slug: string;
  /** What Trunkline needs and the App does not ask for, as `workflows: write`. */
  readonly missingPermissions: readonly string[];
  /** Kinds of webhooks that Trunkline works and the App is not sent. */
  readonly missingEvents: readonly string[];
  /** How far our clock is ahead of the forge's; null where it did not say its time. */
  readonly clockSkewSeconds: number | null;
}

export interface ForgeWebhook {
  /** Null where none is set, or deliveries are off. */
  readonly url: string | null;
  readonly isJson: boolean;
  readonly hasSecret: boolean;
}

/** One try of the forge's to deliver a webhook, as its own log has it. */
export interface DeliveryAttempt {
  /** The forge's name for this try. */
  readonly id: string;
  /** Shared by all tries of one delivery. */
  readonly guid: string;
  readonly event: string;
  readonly at: string;
  /** Whether the receiver took it. */
  readonly isOk: boolean;
  /** Whether the receiver answered that it is not properly signed. */
  readonly isUnsigned: boolean;
  readonly ended: string;
}

/** Part of the delivery log. `next` names the part before it in time; null at the log's end. */
export interface DeliveryLogPage {
  readonly attempts: readonly DeliveryAttempt[];
  readonly next: string | null;
}

/** Who the App is on the forge: commits, pull requests and comments of ours carry this account. */
export interface ForgeIdentity {
  readonly botLogin: string;
  readonly botId: number;
}

export interface ForgeAccount {
  readonly forgeId: number;
  readonly login: string;
  readonly avatarUrl: string | null;
  readonly isBot: boolean;
}

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

/** What one of several questions brought. Whatever goes wrong with one is told in words, and the others still answer. */
export type Asked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

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

export type Ordered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A branch or tag created or found at the commit (`created` false), or found at another one. */
export type CreatedRef = Ordered<{ readonly created: boolean } | { readonly taken: string }>;

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

export interface Forge extends Releasing {
  /** Cached after the first answer. */
  identity(): Promise<ForgeIdentity>;
  /** The App itself: that this is answered says that its id and key are right. */
  app(): Promise<ForgeApp>;
  webhook(): Promise<ForgeWebhook>;
  /** Suspended ones included. */
  installations(): Promise<ForgeInstallation[]>;
  /** Null when it is gone. */
  installation(installationId: number): Promise<ForgeInstallation | null>;
  repositories(installationId: number): Promise<Ordered<GrantedRepository[]>>;
  /**
   * The account with this login, as `installationId` may see it or, where that is null, anybody; null when there is none. An organization
   * is none.
   */
  account(login: string, installationId: number | null): Promise<ForgeAccount | null>;
  /** One repository as it is now, followed by its id through renames; null when it is gone or out of reach. */
  repository(ref: RepositoryRef): Promise<ForgeRepository | null>;

  /** The forge's log of its deliveries to us, newest first, from its beginning or from the `next` of an earlier page. */
  deliveryLog(cursor: string | null): Promise<DeliveryLogPage>;
  /** What such a try carried, as JSON text; null where the log does not hold it any more. */
  deliveredPayload(attemptId: string): Promise<string | null>;

  /**
   * What several branches look like now, in the order asked, with the newest of their pull requests. One call
   * to the forge for each installation concerned, for every 25 branches.
   */
  inspect(questions: readonly BranchQuestion[], options?: InspectOptions): Promise<BranchAnswer[]>;
  /**
   * What has been reported on the heads of several pull requests, in the order asked, within 5 seconds. One call to the forge for each
   * installation concerned, where no pull request has more than a hundred checks. Never throws `ForgeUnavailable`.
   */
  checks(questions: readonly PullRequestQuestion[]): Promise<Asked<readonly CheckDetails[]>[]>;
  /** The reviews of several pull requests, each list in the order of time; otherwise as `checks`. */
  reviews(questions: readonly PullRequestQuestion[]): Promise<Asked<readonly Review[]>[]>;

  /**
   * The files that both a commit and a branch changed since they parted: those that conflict are among them. Empty where the forge does not
   * tell within 5 seconds; never throws `ForgeUnavailable`.
   */
  changedOnBothSides(repository: RepositoryRef, branchName: string, sha: string): Promise<readonly string[]>;
  /** The commit a branch points at; null when there is no such branch. */
  branchHead(repository: RepositoryRef, branchName: string): Promise<string | null>;
  /**
   * Creates a branch at a commit. A branch that is already there at that very commit is a success (`created` false); at
   * another commit it is `{ taken: sha }`, never moved.
   */
  createBranch(repository: RepositoryRef, branchName: string, sha: string): Promise<CreatedRef>;
  /**
   * Opens a pull request. One already open for the same head and target is a success, and so is one that an earlier try opened and somebody
   * has closed or merged since: it is not opened twice, as far as it is listed or heard of. Where the repository has no drafts it is opened ready, and the answer's `isDraft` says so.
   */
  openPullRequest(repository: RepositoryRef, draft: PullRequestDraft): Promise<Ordered<OpenedPullRequest>>;
  /** Marks a draft ready for review; one already ready is a success. Tells where it aims now, unless the answer was lost. */
  markReady(
    repository: RepositoryRef,
    nodeId: string,
  ): Promise<Ordered<{ readonly targetBranch: string | null }>>;
  /**
   * Merges with the head pinned, waiting at most `waitMs` for the forge to finish. One already merged is a success.
   */
  merge(repository: RepositoryRef, order: MergeOrder, waitMs: number): Promise<Ordered<MergeResult>>;
  /**
   * Writes a comment on a pull request, in at most `waitMs`. One of ours that bears the mark is a success, its text brought up to date.
   * Without an id it may be there, and is not shown yet.
   */
  comment(
    repository: RepositoryRef,
    order: CommentOrder,
    waitMs: number,
  ): Promise<Ordered<{ readonly commentId: number | null }>>;
  /** Whether a comment on a pull request is there; one that may not be read is taken to be. */
  hasComment(repository: RepositoryRef, commentId: number): Promise<boolean>;
  /** Makes a comment of ours read as given, in at most `waitMs`. */
  editComment(
    repository: RepositoryRef,
    commentId: number,
    body: string,
    waitMs: number,
  ): Promise<Ordered<{ readonly commentId: number }>>;
}

/** The forge could not be asked, or did not say. `retryAfter` in seconds. */
export class ForgeUnavailable extends Error {
  override readonly name = "ForgeUnavailable";
  readonly retryAfter: number;

  constructor(message: string, options: { retryAfter?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfter = options.retryAfter ?? 5;
  }
}
