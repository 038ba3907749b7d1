import { canBeRebased, mergeabilityOf, type Mergeability } from "../../actions/mergeability.ts";
import { protectionOf, reviewVerdict } from "../../actions/protection.ts";
import { rulesetsOf } from "../../queries/rulesets.ts";
import { changeCounts, type ChangeCounts } from "../../git/diff.ts";
import { commitsBetween } from "../../git/history.ts";
import { readRef } from "../../git/refs.ts";
import { namedNodeId, NODE_PREFIXES, nodeId } from "../../node-id.ts";
import type { PullRequestRow, RepositoryRow } from "../../rows.ts";
import { roleIn } from "../../server/access.ts";
import { connection, isGiven, type PageArgs } from "../connection.ts";
import { mergeQueueEntryObject, mergeQueueObject } from "./merge-queue.ts";
import { pullRequestPath, reviewFields } from "./reviews.ts";
import type { GraphqlObject, Scope } from "../scope.ts";

export function pullRequestObject(scope: Scope, row: PullRequestRow): GraphqlObject {
  const repository = scope.forge.state.repositories.need(row.repositoryId);
  return {
    __typename: "PullRequest",
    ...plainFields(scope, row),
    ...branchFields(scope, repository, row),
    ...mergeFields(scope, repository, row),
    ...sizeFields(scope, repository, row),
    ...reviewFields(scope, row),
    author: () => scope.account(row.userId),
    autoMergeRequest: () => autoMergeRequest(scope, row),
    reviewDecision: () => reviewDecision(scope, repository, row),
    statusCheckRollup: () => scope.rollup(repository, row.headSha),
    commits: (args: PageArgs) => commits(scope, repository, row, args),
    comments: (args: PageArgs) =>
      connection("comments", scope.forge.state.comments.inGroup(row.id), args, (comment) =>
        scope.comment(comment),
      ),
    repository: () => scope.repository(repository),
  };
}

function plainFields(scope: Scope, row: PullRequestRow) {
  const resourcePath = pullRequestPath(scope, row);
  const url = `${scope.forge.urls.root}${resourcePath}`;
  return {
    id: nodeId(NODE_PREFIXES.pullRequest, row.id),
    databaseId: row.id,
    fullDatabaseId: String(row.id),
    number: row.number,
    title: row.title,
    body: row.body ?? "",
    url,
    permalink: url,
    resourcePath,
    state: pullRequestState(row),
    closed: row.state === "closed",
    closedAt: row.closedAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    isDraft: row.draft,
    maintainerCanModify: row.maintainerCanModify,
  };
}

function branchFields(scope: Scope, repository: RepositoryRow, row: PullRequestRow) {
  const git = scope.forge.git.repository(repository.id);
  const branch = async (name: string) => {
    const sha = await readRef(git, `refs/heads/${name}`);
    return sha === null ? null : scope.ref(repository, `refs/heads/${name}`, sha);
  };
  return {
    baseRef: () => branch(row.baseRef),
    baseRefName: row.baseRef,
    baseRefOid: row.baseSha,
    baseRepository: () => scope.repository(repository),
    headRef: () => branch(row.headRef),
    headRefName: row.headRef,
    headRefOid: row.headSha,
    headRepository: () => scope.repository(repository),
    headRepositoryOwner: () => scope.account(repository.ownerId),
    isCrossRepository: false,
  };
}

function mergeFields(scope: Scope, repository: RepositoryRow, row: PullRequestRow) {
  // Computed at most once per object: each call counts as a read of the pull request.
  let computed: Promise<Mergeability> | undefined;
  const mergeability = () => (computed ??= mergeabilityOf(scope.forge, repository, row));
  return {
    merged: row.mergedAt !== null,
    mergedAt: row.mergedAt,
    mergedBy: () => scope.account(row.mergedById),
    mergeCommit: () => (row.mergedAt === null ? null : scope.commit(repository, row.mergeCommitSha)),
    potentialMergeCommit: async () =>
      row.state === "open" ? scope.commit(repository, (await mergeability()).sha) : null,
    mergeable: async () => {
      const { mergeable } = await mergeability();
      return mergeable === null ? "UNKNOWN" : mergeable ? "MERGEABLE" : "CONFLICTING";
    },
    mergeStateStatus: async () => (await mergeability()).state.toUpperCase(),
    canBeRebased: () => canBeRebased(scope.forge, repository, row),
    viewerCanMergeAsAdmin: viewerCanMergeAsAdmin(scope, repository, row),
    isInMergeQueue: row.queuedAt !== null,
    isMergeQueueEnabled: protectionOf(scope.forge, repository, row.baseRef)?.mergeQueue ?? false,
    mergeQueue: () => mergeQueueObject(scope, repository, row.baseRef),
    mergeQueueEntry: () => mergeQueueEntryObject(scope, row),
  };
}

/** Whether the caller may bypass the classic protection of the target. */
function viewerCanMergeAsAdmin(
  { forge, caller }: Scope,
  repository: RepositoryRow,
  row: PullRequestRow,
): boolean {
  const protection = protectionOf(forge, repository, row.baseRef);
  if (protection === undefined) return false;
  if (caller.kind === "installation") return protection.appBypass ?? false;
  return !protection.enforceAdmins && roleIn(forge, caller, repository) === "admin";
}

/** The commit that the pull request is compared with: the tip of its base while it is open. */
async function baseOf(scope: Scope, repository: RepositoryRow, row: PullRequestRow): Promise<string> {
  if (row.state === "closed") return row.baseSha;
  return (
    (await readRef(scope.forge.git.repository(repository.id), `refs/heads/${row.baseRef}`)) ?? row.baseSha
  );
}

function sizeFields(scope: Scope, repository: RepositoryRow, row: PullRequestRow) {
  const count = (field: keyof ChangeCounts) => async () => {
    const base = await baseOf(scope, repository, row);
    return (await changeCounts(scope.forge.git.repository(repository.id), base, row.headSha))[field];
  };
  return {
    additions: count("additions"),
    deletions: count("deletions"),
    changedFiles: count("changedFiles"),
  };
}

async function commits(
  scope: Scope,
  repository: RepositoryRow,
  row: PullRequestRow,
  args: PageArgs,
): Promise<object> {
  const base = await baseOf(scope, repository, row);
  const found = await commitsBetween(scope.forge.git.repository(repository.id), base, row.headSha);
  return connection("commits", found, args, (commit) => {
    const resourcePath = `${pullRequestPath(scope, row)}/commits/${commit.sha}`;
    return {
      __typename: "PullRequestCommit",
      id: namedNodeId("PRC", repository.id, `${row.number}:${commit.sha}`),
      commit: () => scope.commit(repository, commit.sha),
      pullRequest: () => scope.pullRequest(row),
      url: `${scope.forge.urls.root}${resourcePath}`,
      resourcePath,
    };
  });
}

/** Null if no review is required and nobody approved. */
function reviewDecision({ forge }: Scope, repository: RepositoryRow, row: PullRequestRow): string | null {
  const { approvals, changesRequested } = reviewVerdict(forge, row);
  if (changesRequested) return "CHANGES_REQUESTED";
  const required = Math.max(
    protectionOf(forge, repository, row.baseRef)?.requiredReviews?.count ?? 0,
    ...rulesetsOf(forge, repository.id, row.baseRef).map(
      ({ requiredReviews }) => requiredReviews?.count ?? 0,
    ),
  );
  if (approvals < required) return "REVIEW_REQUIRED";
  return approvals > 0 ? "APPROVED" : null;
}

function autoMergeRequest(scope: Scope, row: PullRequestRow): GraphqlObject | null {
  if (row.autoMerge === null) return null;
  const { enabledById, mergeMethod, commitTitle, commitMessage } = row.autoMerge;
  return {
    __typename: "AutoMergeRequest",
    authorEmail: null,
    commitBody: commitMessage,
    commitHeadline: commitTitle,
    enabledAt: row.updatedAt,
    enabledBy: () => scope.account(enabledById),
    mergeMethod: mergeMethod.toUpperCase(),
    pullRequest: () => scope.pullRequest(row),
  };
}

export interface PullRequestArgs extends PageArgs {
  readonly headRefName?: string | null;
  readonly baseRefName?: string | null;
  readonly states?: readonly ("OPEN" | "CLOSED" | "MERGED")[] | null;
  readonly labels?: readonly string[] | null;
  readonly orderBy?: {
    readonly field: "CREATED_AT" | "UPDATED_AT" | "COMMENTS";
    readonly direction: "ASC" | "DESC";
  } | null;
}

function pullRequestState(row: PullRequestRow): "OPEN" | "CLOSED" | "MERGED" {
  if (row.mergedAt !== null) return "MERGED";
  return row.state === "open" ? "OPEN" : "CLOSED";
}

/** Filters and sorts pull requests by the arguments of a list. Oldest first without `orderBy`. */
export function choosePullRequests(rows: readonly PullRequestRow[], args: PullRequestArgs): PullRequestRow[] {
  const chosen = rows.filter(
    (row) =>
      (!isGiven(args.headRefName) || row.headRef === args.headRefName) &&
      (!isGiven(args.baseRefName) || row.baseRef === args.baseRefName) &&
      (!isGiven(args.states) || args.states.includes(pullRequestState(row))) &&
      (!isGiven(args.labels) || args.labels.length === 0),
  );
  if (!isGiven(args.orderBy)) return chosen;
  const { field, direction } = args.orderBy;
  const timeOf = (row: PullRequestRow) => (field === "UPDATED_AT" ? row.updatedAt : row.createdAt);
  // Times are whole seconds, so the number orders pull requests of the same second.
  const sorted = chosen.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)) || a.number - b.number);
  return direction === "DESC" ? sorted.toReversed() : sorted;
}
