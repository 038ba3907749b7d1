import { dismissReview, reviewPullRequest, setReviewRequests, submitReview } from "../actions/reviews.ts";
import { emitReview } from "../actions/emit-events.ts";
import { presentAccountById } from "../present/account.ts";
import { presentSimplePullRequest } from "../present/pull-request.ts";
import { presentReview } from "../present/review.ts";
import type { PullRequestRow, ReviewRow } from "../rows.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import { optionalChoice, optionalText, optionalTexts, requiredText } from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { pullOf } from "./pulls.ts";

const REVIEWS = "/pulls/{pull_number}/reviews";
const REQUESTED = "/pulls/{pull_number}/requested_reviewers";

export const reviewRoutes = [
  repositoryRoute("GET", REVIEWS, "pull_requests:read", list),
  repositoryRoute("POST", REVIEWS, "pull_requests:write", create),
  repositoryRoute("GET", `${REVIEWS}/{review_id}`, "pull_requests:read", readOne),
  repositoryRoute("PUT", `${REVIEWS}/{review_id}`, "pull_requests:write", edit),
  repositoryRoute("DELETE", `${REVIEWS}/{review_id}`, "pull_requests:write", removePending),
  repositoryRoute("POST", `${REVIEWS}/{review_id}/events`, "pull_requests:write", submit),
  repositoryRoute("PUT", `${REVIEWS}/{review_id}/dismissals`, "pull_requests:write", dismiss),
  repositoryRoute("GET", REQUESTED, "pull_requests:read", listRequested),
  repositoryRoute("POST", REQUESTED, "pull_requests:write", request),
  repositoryRoute("DELETE", REQUESTED, "pull_requests:write", unrequest),
];

const EVENTS = ["APPROVE", "REQUEST_CHANGES", "COMMENT"] as const;

const isVisible =
  ({ actor }: RepositoryCall) =>
  (review: ReviewRow) =>
    review.state !== "PENDING" || review.userId === actor.id;

function reviewOf(call: RepositoryCall, pull: PullRequestRow): ReviewRow {
  const review = call.forge.state.reviews.get(Number(call.params["review_id"]));
  if (review === undefined || review.pullRequestId !== pull.id || !isVisible(call)(review)) throw notFound();
  return review;
}

function list(call: RepositoryCall) {
  const { forge, repository } = call;
  const pull = pullOf(call);
  const reviews = forge.state.reviews.inGroup(pull.id).filter(isVisible(call));
  return paged(call, reviews, (review) => presentReview(forge, repository, pull, review));
}

async function create(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const pull = pullOf(call);
  const review = await reviewPullRequest(forge, pull, actor, {
    body: optionalText(fields, "body") ?? "",
    event: optionalChoice(fields, "event", EVENTS) ?? null,
    commitId: optionalText(fields, "commit_id") ?? pull.headSha,
  });
  return ok(presentReview(forge, repository, pull, review));
}

function readOne(call: RepositoryCall) {
  const pull = pullOf(call);
  return ok(presentReview(call.forge, call.repository, pull, reviewOf(call, pull)));
}

async function edit(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const pull = pullOf(call);
  const before = reviewOf(call, pull);
  if (before.userId !== actor.id) throw unprocessable("Only the author of a review can edit it");
  const body = requiredText(fields, "body");
  const review = forge.state.reviews.update(before.id, { body, updatedAt: forge.now() });
  if (review.state !== "PENDING" && body !== before.body)
    await emitReview(forge, pull, review, "edited", actor, { changes: { body: { from: before.body } } });
  return ok(presentReview(forge, repository, pull, review));
}

function removePending(call: RepositoryCall) {
  const pull = pullOf(call);
  const review = reviewOf(call, pull);
  if (review.state !== "PENDING") throw unprocessable("Can not delete a non-pending pull request review");
  call.forge.state.reviews.delete(review.id);
  return ok(presentReview(call.forge, call.repository, pull, review));
}

async function submit(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const pull = pullOf(call);
  const event = optionalChoice(fields, "event", EVENTS);
  const before = reviewOf(call, pull);
  if (event === undefined) throw unprocessable(`Invalid request.\n\n"event" wasn't supplied.`);
  if (before.state !== "PENDING") throw unprocessable("Review has already been submitted");
  const body = optionalText(fields, "body");
  const review = body === undefined ? before : forge.state.reviews.update(before.id, { body });
  return ok(presentReview(forge, repository, pull, await submitReview(forge, pull, review, actor, event)));
}

async function dismiss(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  requiredText(fields, "message");
  const pull = pullOf(call);
  return ok(
    presentReview(forge, repository, pull, await dismissReview(forge, pull, reviewOf(call, pull), actor)),
  );
}

function listRequested(call: RepositoryCall) {
  const ids = pullOf(call).requestedReviewerIds;
  return ok({ users: ids.map((id) => presentAccountById(call.forge, id)), teams: [] });
}

async function request(call: RepositoryCall) {
  return created(await changeRequests(call, true));
}

async function unrequest(call: RepositoryCall) {
  return ok(await changeRequests(call, false));
}

async function changeRequests(call: RepositoryCall, wanted: boolean) {
  const { forge, repository, fields, actor } = call;
  const logins = optionalTexts(fields, "reviewers") ?? [];
  const people = logins.map((login) => {
    const [account] = forge.state.accounts.inGroup(login.toLowerCase());
    if (account === undefined)
      throw unprocessable(
        "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.",
      );
    return account;
  });
  const pull = await setReviewRequests(forge, pullOf(call), actor, people, wanted);
  return presentSimplePullRequest(forge, repository, pull);
}
