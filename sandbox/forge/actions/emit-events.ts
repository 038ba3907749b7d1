import type { ForgeContext } from "../context.ts";
import { presentPullRequest, presentSimplePullRequest } from "../present/pull-request.ts";
import { presentReview } from "../present/review.ts";
import type { AccountRow, PullRequestRow, ReviewRow } from "../rows.ts";
import { emit } from "../webhooks/emit.ts";

/** Emits `pull_request`; `more` are the fields specific to the action. */
export async function emitPullRequest(
  forge: ForgeContext,
  pull: PullRequestRow,
  action: string,
  sender: AccountRow,
  more: object = {},
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  await emit(forge, {
    event: "pull_request",
    action,
    repository,
    sender,
    payload: async () => ({
      number: pull.number,
      pull_request: await presentPullRequest(forge, repository, pull),
      ...more,
    }),
  });
}

/** Emits `pull_request_review`. Webhooks write the review's state in lower case. */
export async function emitReview(
  forge: ForgeContext,
  pull: PullRequestRow,
  review: ReviewRow,
  action: "submitted" | "edited" | "dismissed",
  sender: AccountRow,
  more: object = {},
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  await emit(forge, {
    event: "pull_request_review",
    action,
    repository,
    sender,
    payload: () => ({
      review: { ...presentReview(forge, repository, pull, review), state: review.state.toLowerCase() },
      pull_request: presentSimplePullRequest(forge, repository, pull),
      ...more,
    }),
  });
}
