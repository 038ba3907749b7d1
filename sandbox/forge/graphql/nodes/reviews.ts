import { NODE_PREFIXES, nodeId } from "../../node-id.ts";
import type { CommentRow, PullRequestRow, ReviewRow, ReviewThreadRow } from "../../rows.ts";
import { connection, isGiven, type PageArgs } from "../connection.ts";
import { repositoryPath, type GraphqlObject, type Scope } from "../scope.ts";

interface ReviewArgs extends PageArgs {
  readonly author?: string | null;
  readonly states?: readonly string[] | null;
}

export function reviewObject(scope: Scope, row: ReviewRow): GraphqlObject {
  const pull = scope.forge.state.pullRequests.need(row.pullRequestId);
  const repository = scope.forge.state.repositories.need(pull.repositoryId);
  return {
    __typename: "PullRequestReview",
    id: nodeId(NODE_PREFIXES.review, row.id),
    databaseId: row.id,
    fullDatabaseId: String(row.id),
    author: () => scope.account(row.userId),
    body: row.body,
    state: row.state,
    submittedAt: row.submittedAt,
    createdAt: row.submittedAt ?? row.updatedAt,
    updatedAt: row.updatedAt,
    url: `${pullRequestUrl(scope, pull)}#pullrequestreview-${row.id}`,
    commit: () => scope.commit(repository, row.commitId),
    pullRequest: () => scope.pullRequest(pull),
  };
}

export function commentObject(scope: Scope, row: CommentRow): GraphqlObject {
  const pull = scope.forge.state.pullRequests.need(row.pullRequestId);
  return {
    __typename: "IssueComment",
    id: nodeId(NODE_PREFIXES.comment, row.id),
    databaseId: row.id,
    fullDatabaseId: String(row.id),
    author: () => scope.account(row.userId),
    body: row.body,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    url: `${pullRequestUrl(scope, pull)}#issuecomment-${row.id}`,
    pullRequest: () => scope.pullRequest(pull),
    repository: () => scope.repository(scope.forge.state.repositories.need(pull.repositoryId)),
  };
}

function reviewThreadObject(scope: Scope, pull: PullRequestRow, row: ReviewThreadRow): GraphqlObject {
  return {
    __typename: "PullRequestReviewThread",
    id: nodeId(NODE_PREFIXES.reviewThread, row.id),
    path: row.path,
    isOutdated: false,
    isResolved: row.resolvedById !== null,
    resolvedBy: () => scope.account(row.resolvedById),
    pullRequest: () => scope.pullRequest(pull),
    repository: () => scope.repository(scope.forge.state.repositories.need(pull.repositoryId)),
  };
}

export function pullRequestPath(scope: Scope, row: PullRequestRow): string {
  return `${repositoryPath(scope, scope.forge.state.repositories.need(row.repositoryId))}/pull/${row.number}`;
}

const pullRequestUrl = (scope: Scope, row: PullRequestRow) =>
  `${scope.forge.urls.root}${pullRequestPath(scope, row)}`;

/** The reviews that the caller may see: submitted ones, and its own pending ones. */
function visibleReviews({ forge, caller }: Scope, row: PullRequestRow): ReviewRow[] {
  const ownId = "account" in caller ? caller.account.id : null;
  return forge.state.reviews
    .inGroup(row.id)
    .filter((review) => review.state !== "PENDING" || review.userId === ownId);
}

const OPINIONS = new Set(["APPROVED", "CHANGES_REQUESTED", "DISMISSED"]);

/** The last review of each reviewer. */
const latest = (reviews: readonly ReviewRow[]) => [
  ...new Map(reviews.map((each) => [each.userId, each])).values(),
];

/** The fields of a pull request that list reviews. */
export function reviewFields(scope: Scope, row: PullRequestRow) {
  const { state } = scope.forge;
  const toNode = (review: ReviewRow) => scope.review(review);
  return {
    reviewThreads: (args: PageArgs) =>
      connection("reviewThreads", state.reviewThreads.inGroup(row.id), args, (thread) =>
        reviewThreadObject(scope, row, thread),
      ),
    reviews: (args: ReviewArgs) => {
      const chosen = visibleReviews(scope, row).filter(
        (review) =>
          (!isGiven(args.states) || args.states.includes(review.state)) &&
          (!isGiven(args.author) || state.accounts.need(review.userId).login === args.author),
      );
      return connection("reviews", chosen, args, toNode);
    },
    latestReviews: (args: PageArgs) => {
      const others = visibleReviews(scope, row).filter((review) => review.userId !== row.userId);
      return connection("latestReviews", latest(others), args, toNode);
    },
    latestOpinionatedReviews: (args: PageArgs) => {
      const opinions = visibleReviews(scope, row).filter((review) => OPINIONS.has(review.state));
      return connection("latestOpinionatedReviews", latest(opinions), args, toNode);
    },
  };
}
