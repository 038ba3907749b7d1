import type {
  BranchQuestion,
  BranchAnswer,
  InspectOptions,
  PullRequestQuestion,
  CheckDetails,
  Review,
  PullRequestDraft,
  OpenedPullRequest,
  CommentOrder,
  MergeOrder,
  MergeResult,
} from "./pull-requests.ts";
import type {
  RepositoryRef,
  ForgeRepository,
  GrantedRepository,
  ForgeInstallation,
  ForgeApp,
  ForgeWebhook,
  DeliveryLogPage,
  ForgeIdentity,
  ForgeAccount,
  Asked,
  Ordered,
  CreatedRef,
} from "./values.ts";

import type { Releasing } from "./releasing.ts";

/**
 * The port: the questions and orders Trunkline has for a forge, and nothing else about it. `forge/github` is the adapter.
 *
 * Every method may throw `ForgeUnavailable` when the forge cannot be reached, answers a 5xx, is out of time, limits our calls, or answers in a
 * shape we do not know; the outcome of an order is then unknown and it must be looked at before it is repeated. A refusal of
 * the forge is no exception: orders return it.
 */
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
