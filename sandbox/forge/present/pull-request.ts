import { changeCounts } from "../git/diff.ts";
import { readRef } from "../git/refs.ts";
import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";
import { presentAccountById, presentAccountOrNull } from "./account.ts";
import { presentBranchRepository, repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

const pullRequestNodeId = (pull: PullRequestRow): string => nodeId(NODE_PREFIXES.pullRequest, pull.id);

/** The `author_association` of an account. */
export function associationOf(forge: ForgeContext, repository: RepositoryRow, accountId: number) {
  if (repository.ownerId === accountId) return "OWNER" as const;
  const owner = forge.state.accounts.need(repository.ownerId);
  return owner.members[accountId] === undefined ? ("NONE" as const) : ("MEMBER" as const);
}

/** Fields of pull requests and issues that the forge does not store. */
export const UNSUPPORTED_FIELDS = {
  assignee: null,
  assignees: [],
  labels: [],
  milestone: null,
  locked: false,
  active_lock_reason: null,
} as const;

/** A pull request in lists. */
export function presentSimplePullRequest(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
) {
  const url = repositoryUrl(forge, repository, "pulls", pull.number);
  const issue = repositoryUrl(forge, repository, "issues", pull.number);
  const html = repositoryHtmlUrl(forge, repository, "pull", pull.number);
  const addresses = {
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${repositoryUrl(forge, repository)}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: repositoryUrl(forge, repository, "statuses", pull.headSha),
  };
  return {
    url,
    id: pull.id,
    node_id: pullRequestNodeId(pull),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    user: presentAccountById(forge, pull.userId),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeCommitSha,
    ...UNSUPPORTED_FIELDS,
    requested_reviewers: pull.requestedReviewerIds.map((id) => presentAccountById(forge, id)),
    requested_teams: [],
    draft: pull.draft,
    ...addresses,
    head: presentSide(forge, repository, pull.headRef, pull.headSha),
    base: presentSide(forge, repository, pull.baseRef, pull.baseSha),
    _links: presentLinks(addresses, url, html, issue),
    author_association: associationOf(forge, repository, pull.userId),
    auto_merge: presentAutoMerge(forge, pull),
  };
}

function presentSide(forge: ForgeContext, repository: RepositoryRow, ref: string, sha: string) {
  const owner = presentAccountById(forge, repository.ownerId);
  return {
    label: `${owner.login}:${ref}`,
    ref,
    sha,
    user: owner,
    repo: presentBranchRepository(forge, repository),
  };
}

function presentLinks(
  addresses: Readonly<
    Record<
      "commits_url" | "review_comments_url" | "review_comment_url" | "comments_url" | "statuses_url",
      string
    >
  >,
  url: string,
  html: string,
  issue: string,
) {
  return {
    self: { href: url },
    html: { href: html },
    issue: { href: issue },
    comments: { href: addresses.comments_url },
    review_comments: { href: addresses.review_comments_url },
    review_comment: { href: addresses.review_comment_url },
    commits: { href: addresses.commits_url },
    statuses: { href: addresses.statuses_url },
  };
}

const presentAutoMerge = (forge: ForgeContext, { autoMerge }: PullRequestRow) =>
  autoMerge && {
    enabled_by: presentAccountById(forge, autoMerge.enabledById),
    merge_method: autoMerge.mergeMethod,
    commit_title: autoMerge.commitTitle ?? "",
    commit_message: autoMerge.commitMessage ?? "",
  };

interface PresentedMergeability {
  /** Null while the forge computes it. */
  readonly mergeable: boolean | null;
  readonly state: string;
  /** The test merge commit. */
  readonly sha: string | null;
}

/** A full pull request. Webhooks omit `mergeability`: GitHub has not computed it by then. */
export async function presentPullRequest(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  mergeability: PresentedMergeability = { mergeable: null, state: "unknown", sha: null },
) {
  const repo = forge.git.repository(repository.id);
  const tip = pull.state === "open" ? await readRef(repo, `refs/heads/${pull.baseRef}`) : null;
  const counts = await changeCounts(repo, tip ?? pull.baseSha, pull.headSha);
  return {
    ...presentSimplePullRequest(forge, repository, pull),
    merge_commit_sha: pull.mergeCommitSha ?? mergeability.sha,
    merged: pull.mergedAt !== null,
    mergeable: mergeability.mergeable,
    rebaseable: mergeability.mergeable,
    mergeable_state: mergeability.state,
    merged_by: presentAccountOrNull(forge, pull.mergedById),
    comments: forge.state.comments.inGroup(pull.id).length,
    review_comments: 0,
    maintainer_can_modify: pull.maintainerCanModify,
    commits: counts.commits,
    additions: counts.additions,
    deletions: counts.deletions,
    changed_files: counts.changedFiles,
  };
}

/** A pull request inside a check run. */
export const presentMinimalPullRequest = (
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
) => {
  const repo = { id: repository.id, url: repositoryUrl(forge, repository), name: repository.name };
  return {
    id: pull.id,
    number: pull.number,
    url: repositoryUrl(forge, repository, "pulls", pull.number),
    head: { ref: pull.headRef, sha: pull.headSha, repo },
    base: { ref: pull.baseRef, sha: pull.baseSha, repo },
  };
};
