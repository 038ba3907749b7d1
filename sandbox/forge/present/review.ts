import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { CommentRow, PullRequestRow, RepositoryRow, ReviewRow } from "../rows.ts";
import { presentAccountById } from "./account.ts";
import { presentAppById } from "./installation.ts";
import { associationOf, UNSUPPORTED_FIELDS } from "./pull-request.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

export function presentReview(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  review: ReviewRow,
) {
  const html = `${repositoryHtmlUrl(forge, repository, "pull", pull.number)}#pullrequestreview-${review.id}`;
  const url = repositoryUrl(forge, repository, "pulls", pull.number);
  return {
    id: review.id,
    node_id: nodeId(NODE_PREFIXES.review, review.id),
    user: presentAccountById(forge, review.userId),
    body: review.body,
    state: review.state as string,
    html_url: html,
    pull_request_url: url,
    author_association: associationOf(forge, repository, review.userId),
    _links: { html: { href: html }, pull_request: { href: url } },
    ...(review.submittedAt === null ? {} : { submitted_at: review.submittedAt }),
    commit_id: review.commitId,
  };
}

const reactions = (url: string) => ({
  url: `${url}/reactions`,
  total_count: 0,
  "+1": 0,
  "-1": 0,
  laugh: 0,
  hooray: 0,
  confused: 0,
  heart: 0,
  rocket: 0,
  eyes: 0,
});

export function presentComment(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  comment: CommentRow,
) {
  const url = repositoryUrl(forge, repository, "issues", "comments", comment.id);
  return {
    url,
    html_url: `${repositoryHtmlUrl(forge, repository, "pull", pull.number)}#issuecomment-${comment.id}`,
    issue_url: repositoryUrl(forge, repository, "issues", pull.number),
    id: comment.id,
    node_id: nodeId(NODE_PREFIXES.comment, comment.id),
    user: presentAccountById(forge, comment.userId),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: associationOf(forge, repository, comment.userId),
    body: comment.body,
    reactions: reactions(url),
    performed_via_github_app: comment.viaAppId === null ? null : presentAppById(forge, comment.viaAppId),
  };
}

/** A pull request as an issue. */
export function presentIssue(forge: ForgeContext, repository: RepositoryRow, pull: PullRequestRow) {
  const url = repositoryUrl(forge, repository, "issues", pull.number);
  const html = repositoryHtmlUrl(forge, repository, "pull", pull.number);
  return {
    url,
    repository_url: repositoryUrl(forge, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: html,
    id: pull.issueId,
    node_id: nodeId(NODE_PREFIXES.pullRequest, pull.id),
    number: pull.number,
    title: pull.title,
    user: presentAccountById(forge, pull.userId),
    state: pull.state,
    ...UNSUPPORTED_FIELDS,
    comments: forge.state.comments.inGroup(pull.id).length,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    author_association: associationOf(forge, repository, pull.userId),
    draft: pull.draft,
    pull_request: {
      url: repositoryUrl(forge, repository, "pulls", pull.number),
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: pull.mergedAt,
    },
    body: pull.body,
    reactions: reactions(url),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: null,
  };
}
