/**
 * The forge's rows. Plain data, replaced as a whole when saved. Ids are unique over all tables, times are ISO 8601 UTC in whole
 * seconds as GitHub writes them. Git's own facts (commits, refs, trees) are never copied here unless GitHub freezes them.
 */

export type {
  CheckAnnotation,
  CheckConclusion,
  CheckRunRow,
  CheckStatus,
  CheckSuiteRow,
  StatusRow,
} from "./check-rows.ts";

export type Access = "read" | "write" | "admin";
/** GitHub App permissions by name, e.g. `{ contents: "write" }`. */
export type Permissions = Readonly<Record<string, Access>>;

export interface AccountRow {
  readonly id: number;
  readonly login: string;
  readonly type: "User" | "Organization" | "Bot";
  readonly name: string | null;
  readonly email: string;
  readonly createdAt: string;
  /** Organizations only: account id → role. */
  readonly members: Readonly<Record<string, "admin" | "member">>;
}

/** A person's token, or one minted for an installation. The text itself is kept: it is a sandbox, in a folder only we read. */
export interface TokenRow {
  readonly id: number;
  readonly token: string;
  readonly accountId: number | null;
  readonly installationId: number | null;
  /** Narrowed rights of an installation token; null is all the installation has. */
  readonly permissions: Permissions | null;
  readonly repositoryIds: readonly number[] | null;
  readonly expiresAt: string | null;
}

export interface AppRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly clientId: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly hookId: number;
  readonly ownerId: number;
  /** The account that acts when an installation token is used. */
  readonly botId: number;
  readonly permissions: Permissions;
  readonly events: readonly string[];
  readonly createdAt: string;
}

export interface InstallationRow {
  readonly id: number;
  readonly appId: number;
  readonly accountId: number;
  readonly permissions: Permissions;
  readonly events: readonly string[];
  readonly repositorySelection: "all" | "selected";
  /** Only read where the selection is `selected`. */
  readonly repositoryIds: readonly number[];
  readonly suspendedAt: string | null;
  readonly suspendedById: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface RepositoryRow {
  readonly id: number;
  readonly ownerId: number;
  readonly name: string;
  readonly description: string | null;
  readonly private: boolean;
  readonly defaultBranch: string;
  readonly archived: boolean;
  readonly hasIssues: boolean;
  readonly allowMergeCommit: boolean;
  readonly allowSquashMerge: boolean;
  readonly allowRebaseMerge: boolean;
  readonly allowAutoMerge: boolean;
  readonly allowUpdateBranch: boolean;
  /** False where the account's plan has no draft pull requests. */
  readonly allowDrafts: boolean;
  readonly deleteBranchOnMerge: boolean;
  /** `owner/name` in lower case, under which it was known before; those addresses redirect. */
  readonly formerNames: readonly string[];
  /** The next pull request's number. */
  readonly nextNumber: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly pushedAt: string;
}

export type MergeMethod = "merge" | "squash" | "rebase";

export interface PullRequestRow {
  readonly id: number;
  /** A pull request is an issue too, with an id of its own. */
  readonly issueId: number;
  readonly repositoryId: number;
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly userId: number;
  readonly state: "open" | "closed";
  readonly draft: boolean;
  readonly headRef: string;
  readonly headSha: string;
  readonly baseRef: string;
  /** The base's tip when the pull request was opened, retargeted, pushed to or closed. */
  readonly baseSha: string;
  readonly requestedReviewerIds: readonly number[];
  readonly maintainerCanModify: boolean;
  readonly autoMerge: AutoMerge | null;
  /** Set while it waits in the base branch's merge queue. */
  readonly queuedAt: string | null;
  readonly queuedById: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
  readonly closedById: number | null;
  readonly mergedAt: string | null;
  readonly mergedById: number | null;
  readonly mergeCommitSha: string | null;
  /** Written before the base branch moves: a forge killed in between finds out at its next start whether it merged. */
  readonly merging: { readonly sha: string; readonly byId: number; readonly baseSha: string } | null;
}

export interface AutoMerge {
  readonly enabledById: number;
  readonly mergeMethod: MergeMethod;
  readonly commitTitle: string | null;
  readonly commitMessage: string | null;
}

export type ReviewState = "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" | "PENDING";

export interface ReviewRow {
  readonly id: number;
  readonly pullRequestId: number;
  readonly userId: number;
  readonly body: string;
  readonly state: ReviewState;
  readonly commitId: string;
  readonly submittedAt: string | null;
  readonly updatedAt: string;
}

/** A comment on the pull request's conversation. */
export interface CommentRow {
  readonly id: number;
  readonly pullRequestId: number;
  readonly userId: number;
  readonly body: string;
  readonly viaAppId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReleaseRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly tagName: string;
  readonly targetCommitish: string;
  readonly name: string | null;
  readonly body: string | null;
  readonly draft: boolean;
  readonly prerelease: boolean;
  readonly authorId: number;
  readonly createdAt: string;
  readonly publishedAt: string | null;
}

export interface ProtectionRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly branch: string;
  readonly requiredStatusChecks: {
    readonly strict: boolean;
    readonly checks: readonly { readonly context: string; readonly appId: number | null }[];
  } | null;
  readonly requiredReviews: {
    readonly count: number;
    readonly dismissStaleReviews: boolean;
  } | null;
  readonly restrictions: { readonly userIds: readonly number[]; readonly appSlugs: readonly string[] } | null;
  readonly enforceAdmins: boolean;
  readonly requiredLinearHistory: boolean;
  readonly allowForcePushes: boolean;
  readonly allowDeletions: boolean;
  /** The branch only takes merges through its merge queue (on GitHub a ruleset; here a switch of the sandbox). */
  readonly mergeQueue: boolean;
}

/** One asynchronous merge, as asked for with `merge-async`. */
export interface MergeRequestRow {
  readonly id: number;
  readonly uuid: string;
  readonly pullRequestId: number;
  readonly requestedById: number;
  readonly status: "pending" | "merged" | "enqueued" | "failed";
  readonly mergeMethod: MergeMethod;
  readonly mergeAction: "default" | "direct_merge" | "merge_queue";
  readonly expectedHeadSha: string;
  readonly commitTitle: string | null;
  readonly commitMessage: string | null;
  readonly sha: string | null;
  readonly message: string | null;
  readonly createdAt: string;
}

/** The JSON text of a webhook. */
export interface PayloadRow {
  readonly id: number;
  readonly text: string;
}

/** One attempt to deliver a webhook. A redelivery is a new row with the same guid. */
export interface DeliveryRow {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  /** What was sent is kept apart, because a delivery's row changes and its payload is large. */
  readonly payloadId: number;
  readonly redelivery: boolean;
  readonly createdAt: string;
  /** Null until the attempt is over. */
  readonly deliveredAt: string | null;
  readonly duration: number;
  /** `OK`, or what went wrong. */
  readonly status: string;
  /** 0 where no answer came. */
  readonly statusCode: number;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string | null;
}
