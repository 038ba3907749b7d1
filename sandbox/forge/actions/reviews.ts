import type { ForgeContext } from "../context.ts";
import { presentAccount } from "../present/account.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import { presentSimplePullRequest } from "../present/pull-request.ts";
import type { AccountRow, PullRequestRow, ReviewRow, ReviewState, ReviewThreadRow } from "../rows.ts";
import { unprocessable } from "../server/api-error.ts";
import { emit } from "../webhooks/emit.ts";
import { scheduleAutoMerges } from "./auto-merge.ts";
import { emitPullRequest, emitReview } from "./emit-events.ts";

type ReviewEvent = "APPROVE" | "REQUEST_CHANGES" | "COMMENT";

const STATES: Record<ReviewEvent, ReviewState> = {
  APPROVE: "APPROVED",
  REQUEST_CHANGES: "CHANGES_REQUESTED",
  COMMENT: "COMMENTED",
};

interface NewReview {
  readonly body: string;
  /** Null keeps the review pending, visible to its author only. */
  readonly event: ReviewEvent | null;
  readonly commitId: string;
}

/** Creates a review. Throws GitHub's refusals. */
export async function reviewPullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
  given: NewReview,
): Promise<ReviewRow> {
  const isPending = (each: ReviewRow) => each.userId === by.id && each.state === "PENDING";
  if (given.event === null && forge.state.reviews.inGroup(pull.id).some(isPending))
    throw unprocessable("User can only have one pending review per pull request");
  const row = forge.state.reviews.save({
    id: forge.state.newId(),
    pullRequestId: pull.id,
    userId: by.id,
    body: given.body,
    state: "PENDING",
    commitId: given.commitId,
    submittedAt: null,
    updatedAt: forge.now(),
  });
  if (given.event === null) return row;
  try {
    return await submitReview(forge, pull, row, by, given.event);
  } catch (error) {
    forge.state.reviews.delete(row.id);
    throw error;
  }
}

/** Submits a pending review. Throws GitHub's refusals. */
export async function submitReview(
  forge: ForgeContext,
  pull: PullRequestRow,
  review: ReviewRow,
  by: AccountRow,
  event: ReviewEvent,
): Promise<ReviewRow> {
  if (event !== "COMMENT" && pull.userId === by.id) {
    const action = event === "APPROVE" ? "approve" : "request changes on";
    throw unprocessable(`Can not ${action} your own pull request`);
  }
  if (event !== "APPROVE" && review.body.trim() === "") throw unprocessable("Review body can't be blank");
  const now = forge.now();
  const row = forge.state.reviews.update(review.id, {
    state: STATES[event],
    submittedAt: now,
    updatedAt: now,
  });
  const requestedReviewerIds = pull.requestedReviewerIds.filter((id) => id !== by.id);
  const touched = forge.state.pullRequests.update(pull.id, { updatedAt: now, requestedReviewerIds });
  await emitReview(forge, touched, row, "submitted", by);
  scheduleAutoMerges(forge, pull.repositoryId);
  return row;
}

export async function dismissReview(
  forge: ForgeContext,
  pull: PullRequestRow,
  review: ReviewRow,
  by: AccountRow,
): Promise<ReviewRow> {
  if (review.state !== "APPROVED" && review.state !== "CHANGES_REQUESTED")
    throw unprocessable("Can not dismiss a commented pull request review");
  const row = forge.state.reviews.update(review.id, { state: "DISMISSED", updatedAt: forge.now() });
  await emitReview(forge, pull, row, "dismissed", by);
  return row;
}

/** Adds or removes review requests. */
export async function setReviewRequests(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
  people: readonly AccountRow[],
  wanted: boolean,
): Promise<PullRequestRow> {
  let row = pull;
  for (const person of people) {
    const isAsked = row.requestedReviewerIds.includes(person.id);
    if (isAsked === wanted) continue;
    if (wanted && person.id === pull.userId)
      throw unprocessable("Review cannot be requested from pull request author.");
    const others = row.requestedReviewerIds.filter((id) => id !== person.id);
    row = forge.state.pullRequests.update(pull.id, {
      requestedReviewerIds: wanted ? [...others, person.id] : others,
      updatedAt: forge.now(),
    });
    const action = wanted ? "review_requested" : "review_request_removed";
    await emitPullRequest(forge, row, action, by, { requested_reviewer: presentAccount(forge, person) });
  }
  return row;
}

/** Starts a conversation about a file. GitHub reports its first comment, which the sandbox does not have. */
export const startReviewThread = (
  forge: ForgeContext,
  pull: PullRequestRow,
  path: string,
  by: AccountRow,
): ReviewThreadRow =>
  forge.state.reviewThreads.save({
    id: forge.state.newId(),
    pullRequestId: pull.id,
    path,
    startedById: by.id,
    resolvedById: null,
  });

export async function setThreadResolved(
  forge: ForgeContext,
  threadId: number,
  isResolved: boolean,
  by: AccountRow,
): Promise<void> {
  const thread = forge.state.reviewThreads.update(threadId, { resolvedById: isResolved ? by.id : null });
  const pull = forge.state.pullRequests.need(thread.pullRequestId);
  const repository = forge.state.repositories.need(pull.repositoryId);
  await emit(forge, {
    event: "pull_request_review_thread",
    action: isResolved ? "resolved" : "unresolved",
    repository,
    sender: by,
    payload: () => ({
      pull_request: presentSimplePullRequest(forge, repository, pull),
      thread: { node_id: nodeId(NODE_PREFIXES.reviewThread, thread.id), comments: [] },
      updated_at: forge.now(),
    }),
  });
  scheduleAutoMerges(forge, pull.repositoryId);
}
