import type {
  BranchInspectionRequest,
  BranchInspection,
  InspectOptions,
  PullRequestQuestion,
  CheckDetails,
  Review,
  PullRequestDraft,
  OpenedPullRequest,
  ListedPullRequest,
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
  QuestionResult,
  ForgeResult,
  CreatedRef,
} from "./values.ts";

import type { ReleaseForge } from "./releasing.ts";
import type { ApprovalOrder, Approved, PersonToken } from "./sign-in.ts";

/** For whom the forge is called. It reaches the function that performs a call. */
export interface CallContext {
  /** Called before each call, which may wait for minutes. */
  readonly beforeCall?: () => void;
  /**
   * Asked directly before a write is sent, because it may wait for its turn for many seconds. If it
   * returns false, the write throws `ForgeUnavailable` instead.
   */
  readonly mayWrite?: () => Promise<boolean>;
  /** Called after each write. */
  readonly onWrite?: (write: ForgeWrite) => void;
  /**
   * For optional reads, such as those of GET routes: they leave a reserve of the forge's limits to
   * moves, and throw `ForgeLimited` when only the reserve is left.
   */
  readonly leavesReserve?: boolean;
}

/** A write, without its texts. */
export interface ForgeWrite {
  /** Such as `PUT /pulls/{pull_number}/merge`, or the name of a GraphQL mutation. */
  readonly method: string;
  /** `acme/web`, or `acme/web#12` for a pull request; several names for several repositories. */
  readonly ref: string;
  readonly result: "ok" | "refused" | "unavailable" | "error";
}

/**
 * The port: all that Trunkline reads from a forge and writes to it. The adapter is `forge/github`.
 *
 * Methods throw `ForgeUnavailable` when the forge does not respond in time or in a known shape,
 * returns 5xx, or limits our calls. The outcome of a write is then unknown: read the state before
 * repeating it. Writes return a refusal of the forge instead of throwing. Several questions are
 * returned in the order asked.
 */
export interface Forge extends ReleaseForge {
  /** The same forge for calls with this context; what it does not name stays as it was. */
  with(context: CallContext): Forge;
  /** Cached after the first response. */
  identity(): Promise<ForgeIdentity>;
  /** Succeeds only with a valid App id and key. */
  app(): Promise<ForgeApp>;
  webhook(): Promise<ForgeWebhook>;
  /** Includes suspended ones. */
  installations(): Promise<ForgeInstallation[]>;
  /** After a change of an installation: its token may have other permissions than the installation. */
  forgetToken(installationId: number): Promise<void>;
  /** Null when it does not exist. */
  installation(installationId: number): Promise<ForgeInstallation | null>;
  repositories(installationId: number): Promise<ForgeResult<GrantedRepository[]>>;
  /**
   * The user or bot with this login; null for none or an organization. Reads as the installation,
   * or without authentication when `installationId` is null.
   */
  account(login: string, installationId: number | null): Promise<ForgeAccount | null>;
  /** The account of a person's token; null if the token is not valid any more. */
  tokenOwner(token: PersonToken): Promise<ForgeAccount | null>;
  /** Reads a repository by its id; null when it is deleted or not accessible. */
  repository(ref: RepositoryRef): Promise<ForgeRepository | null>;

  /**
   * What Trunkline uses and the forge's GraphQL API lacks, as messages; null when there is no
   * such API. Reads as an installation.
   */
  graphqlGaps(installationId: number): Promise<readonly string[] | null>;

  /** A page of the forge's log of webhook deliveries; the newest page when `cursor` is null. */
  deliveryLog(cursor: string | null): Promise<DeliveryLogPage>;
  /** The payload of an attempt as JSON; null when the log no longer has it. */
  deliveredPayload(attemptId: string): Promise<string | null>;

  /** The state of branches and their pull requests: one call per installation and 25 branches. */
  inspect(
    questions: readonly BranchInspectionRequest[],
    options?: InspectOptions,
  ): Promise<BranchInspection[]>;
  /** All open pull requests of a repository: one call per 100. */
  openPullRequests(repository: RepositoryRef): Promise<readonly ListedPullRequest[]>;
  /** One pull request; null if it does not exist. */
  pullRequest(repository: RepositoryRef, number: number): Promise<ListedPullRequest | null>;
  /**
   * The checks on the heads of pull requests, within 5 seconds: one call per installation and 25
   * pull requests, and one per further 100 checks. Does not throw `ForgeUnavailable`.
   */
  checks(questions: readonly PullRequestQuestion[]): Promise<QuestionResult<readonly CheckDetails[]>[]>;
  /** The reviews of pull requests, each list oldest first; otherwise like `checks`. */
  reviews(questions: readonly PullRequestQuestion[]): Promise<QuestionResult<readonly Review[]>[]>;

  /**
   * The files that both a commit and a branch changed since their merge base, including all that
   * conflict. Empty without a response within 5 seconds; does not throw `ForgeUnavailable`.
   */
  changedOnBothSides(repository: RepositoryRef, branchName: string, sha: string): Promise<readonly string[]>;
  /** The commit of a branch; null when the branch does not exist. */
  branchHead(repository: RepositoryRef, branchName: string): Promise<string | null>;
  /** A branch that exists at the commit is a success (`created` false), else `{ taken: sha }`. */
  createBranch(repository: RepositoryRef, branchName: string, sha: string): Promise<CreatedRef>;
  /**
   * Opens a pull request. Succeeds if one is open for the same head and target, or if one from an
   * earlier attempt was closed or merged since. If the repository has no drafts, opens it ready for
   * review and returns `isDraft` false.
   */
  openPullRequest(
    repository: RepositoryRef,
    draft: PullRequestDraft,
  ): Promise<ForgeResult<OpenedPullRequest>>;
  /** A pull request that is closed or merged already is a success. */
  closePullRequest(repository: RepositoryRef, number: number): Promise<ForgeResult<null>>;
  /** A pull request that is ready already is a success. `targetBranch` is null if unknown. */
  markReady(
    repository: RepositoryRef,
    nodeId: string,
  ): Promise<ForgeResult<{ readonly targetBranch: string | null }>>;
  /** Merges one head commit, and waits at most `waitMs` for it. A merged one is a success. */
  merge(repository: RepositoryRef, order: MergeOrder, waitMs: number): Promise<ForgeResult<MergeResult>>;
  /**
   * Approves a head commit as the person of the token: marks a draft ready, submits an approving
   * review, and merges, waiting at most `waitMs`. What is done already is a success. Throws
   * `PersonTokenRefused`.
   */
  approve(repository: RepositoryRef, order: ApprovalOrder, waitMs: number): Promise<ForgeResult<Approved>>;
  /**
   * Comments on a pull request in at most `waitMs`. An own comment with the mark is a success; its
   * text is updated. `commentId` is null when the comment may exist and is not listed yet.
   */
  comment(
    repository: RepositoryRef,
    order: CommentOrder,
    waitMs: number,
  ): Promise<ForgeResult<{ readonly commentId: number | null }>>;
  /** Whether a comment exists; true for one that may not be read. */
  hasComment(repository: RepositoryRef, commentId: number): Promise<boolean>;
  /** Replaces the text of an own comment in at most `waitMs`. */
  editComment(
    repository: RepositoryRef,
    commentId: number,
    body: string,
    waitMs: number,
  ): Promise<ForgeResult<{ readonly commentId: number }>>;
}
