/**
 * The forge's rows, replaced as a whole when saved. Ids are unique across tables. Times are ISO
 * 8601 UTC in whole seconds, as on GitHub. Commits, refs and trees are read from Git; rows have
 * only the hashes that GitHub stores.
 */

export type {
  CheckAnnotation,
  CheckConclusion,
  CheckRunRow,
  CheckStatus,
  CheckSuiteRow,
  StatusRow,
  WorkflowRun,
} from "./check-rows.ts";

export type Access = "read" | "write" | "admin";
/** GitHub App permissions, such as `{ contents: "write" }`. */
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

/** A personal or installation access token in plain text; the data folder is private. */
export interface TokenRow {
  readonly id: number;
  readonly token: string;
  readonly accountId: number | null;
  readonly installationId: number | null;
  /** Restricts an installation token; null grants all permissions of the installation. */
  readonly permissions: Permissions | null;
  readonly repositoryIds: readonly number[] | null;
  readonly expiresAt: string | null;
  /** With it, the App acts as the person, within the rights of both. Absent in older data. */
  readonly isOfApp?: boolean;
}

export interface AppRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly hookId: number;
  readonly ownerId: number;
  /** The account that acts with an installation token. */
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
  /** Used if the selection is `selected`. */
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
  /** False if the account's plan has no draft pull requests. */
  readonly allowDrafts: boolean;
  /** Whether releases that are published from now on are immutable. */
  readonly immutableReleases: boolean;
  /** The tags of deleted immutable releases. */
  readonly usedTags: readonly string[];
  readonly deleteBranchOnMerge: boolean;
  /** Former names as `owner/name` in lower case, which redirect. */
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
  /** The id of the issue that every pull request also is. */
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
  /** The base's tip when the pull request was last opened, retargeted, pushed to or closed. */
  readonly baseSha: string;
  readonly requestedReviewerIds: readonly number[];
  readonly maintainerCanModify: boolean;
  readonly autoMerge: AutoMerge | null;
  /** Set while the pull request is in a merge queue. */
  readonly queuedAt: string | null;
  readonly queuedById: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
  readonly mergedAt: string | null;
  readonly mergedById: number | null;
  readonly mergeCommitSha: string | null;
  /** Saved before the base branch moves, so that a killed forge can finish the merge on restart. */
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

/** Comments on lines of a pull request, which somebody may mark as resolved. */
export interface ReviewThreadRow {
  readonly id: number;
  readonly pullRequestId: number;
  readonly path: string;
  readonly startedById: number;
  /** Null while it is unresolved. */
  readonly resolvedById: number | null;
}

/** A comment in a pull request's conversation. */
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
  /** Whether its tag is locked (https://docs.github.com/code-security/concepts/supply-chain-security/immutable-releases). */
  readonly immutable: boolean;
  /** When it was last made the latest release; null if it was not. */
  readonly latestAt: string | null;
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
    /** Absent in older data, like the next two. */
    readonly requiresLastPushApproval?: boolean;
  } | null;
  readonly requiresResolvedThreads?: boolean;
  /** The App may ignore the protection when it merges. */
  readonly appBypass?: boolean;
  readonly restrictions: { readonly userIds: readonly number[]; readonly appSlugs: readonly string[] } | null;
  readonly enforceAdmins: boolean;
  readonly requiredLinearHistory: boolean;
  readonly allowForcePushes: boolean;
  readonly allowDeletions: boolean;
  /** Null if unsigned commits are allowed. */
  readonly requiredSignatures: "classic" | "ruleset" | null;
  /** Merges must go through the merge queue; on GitHub this is a ruleset. */
  readonly mergeQueue: boolean;
}

/** A ruleset of a branch by its exact name. `ProtectionRow` has the merge queue and signatures. */
export interface RulesetRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly name: string;
  readonly branch: string;
  /** With an `appId`, only reports of that App count. */
  readonly requiredChecks: readonly { readonly context: string; readonly appId: number | null }[];
  readonly requiredReviews: {
    readonly count: number;
    readonly requiresLastPushApproval: boolean;
    readonly requiresResolvedThreads: boolean;
  } | null;
  /** Whether the App is on its bypass list. */
  readonly appBypass: "always" | "pull_requests_only" | "never";
}

/** Who changed a branch last. */
export interface BranchPushRow {
  readonly id: number;
  readonly repositoryId: number;
  readonly branch: string;
  readonly pusherId: number;
}

/** An asynchronous merge, requested with `merge-async`. */
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
  /** The App asked, and may not change workflow files. */
  readonly lacksWorkflows?: boolean;
  readonly sha: string | null;
  readonly message: string | null;
  readonly createdAt: string;
}

/** The JSON text of a webhook, apart from its deliveries because it is large. */
export interface PayloadRow {
  readonly id: number;
  readonly text: string;
}

/** An attempt to deliver a webhook. A redelivery is a new row with the same guid. */
export interface DeliveryRow {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payloadId: number;
  readonly redelivery: boolean;
  readonly createdAt: string;
  /** Null until the attempt has finished. */
  readonly deliveredAt: string | null;
  readonly duration: number;
  /** `OK` or the error. */
  readonly status: string;
  /** 0 without a response. */
  readonly statusCode: number;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string | null;
}
