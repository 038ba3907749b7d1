import { addComment, deleteComment, editComment } from "../actions/comments.ts";
import { editPullRequest } from "../actions/edit-pull-request.ts";
import { presentComment, presentIssue } from "../present/review.ts";
import type { CommentRow } from "../rows.ts";
import { roleOfPerson } from "../server/access.ts";
import { ApiError, notFound } from "../server/api-error.ts";
import { optionalText, requiredText } from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { created, noContent, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { pullOf } from "./pulls.ts";

const READ = ["issues:read", "pull_requests:read"] as const;
const WRITE = ["issues:write", "pull_requests:write"] as const;

/** Pull requests as issues. The forge has no other issues. */
export const issueRoutes = [
  repositoryRoute("GET", "/issues/comments", READ, listAllComments),
  repositoryRoute("GET", "/issues/comments/{comment_id}", READ, readComment),
  repositoryRoute("PATCH", "/issues/comments/{comment_id}", WRITE, changeComment),
  repositoryRoute("DELETE", "/issues/comments/{comment_id}", WRITE, removeComment),
  repositoryRoute("GET", "/issues/{issue_number}", READ, readIssue),
  repositoryRoute("PATCH", "/issues/{issue_number}", WRITE, changeIssue),
  repositoryRoute("GET", "/issues/{issue_number}/comments", READ, listComments),
  repositoryRoute("POST", "/issues/{issue_number}/comments", WRITE, createComment),
];

const issueOf = (call: RepositoryCall) => pullOf(call, "issue_number");

function commentOf({ forge, repository, params }: RepositoryCall): CommentRow {
  const comment = forge.state.comments.get(Number(params["comment_id"]));
  if (comment === undefined) throw notFound();
  if (forge.state.pullRequests.need(comment.pullRequestId).repositoryId !== repository.id) throw notFound();
  return comment;
}

function show({ forge, repository }: RepositoryCall, comment: CommentRow) {
  return presentComment(forge, repository, forge.state.pullRequests.need(comment.pullRequestId), comment);
}

function readIssue(call: RepositoryCall) {
  return ok(presentIssue(call.forge, call.repository, issueOf(call)));
}

async function changeIssue(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const state = optionalText(fields, "state");
  const pull = await editPullRequest(forge, issueOf(call).id, actor, {
    title: optionalText(fields, "title"),
    body: fields["body"] === null ? null : optionalText(fields, "body"),
    state: state === "open" || state === "closed" ? state : undefined,
  });
  return ok(presentIssue(forge, repository, pull));
}

function listComments(call: RepositoryCall) {
  const since = call.query.get("since") ?? "";
  const comments = call.forge.state.comments
    .inGroup(issueOf(call).id)
    .filter((each) => each.updatedAt >= since);
  return paged(call, comments, (comment) => show(call, comment));
}

function listAllComments(call: RepositoryCall) {
  const { forge, repository, query } = call;
  const since = query.get("since") ?? "";
  const all = forge.state.pullRequests
    .inGroup(repository.id)
    .flatMap((pull) => forge.state.comments.inGroup(pull.id));
  const comments = all.filter((each) => each.updatedAt >= since).toSorted((a, b) => a.id - b.id);
  return paged(call, comments, (comment) => show(call, comment));
}

async function createComment(call: RepositoryCall) {
  const { forge, caller, fields, actor } = call;
  const viaAppId = caller.kind === "installation" ? caller.installation.appId : null;
  const comment = await addComment(forge, issueOf(call), actor, optionalText(fields, "body") ?? "", viaAppId);
  const body = show(call, comment);
  return created(body, body.url);
}

function readComment(call: RepositoryCall) {
  return ok(show(call, commentOf(call)));
}

async function changeComment(call: RepositoryCall) {
  const comment = commentOf(call);
  assertOwnOrAdmin(call, comment);
  return ok(
    show(call, await editComment(call.forge, comment, call.actor, requiredText(call.fields, "body"))),
  );
}

async function removeComment(call: RepositoryCall) {
  const comment = commentOf(call);
  assertOwnOrAdmin(call, comment);
  await deleteComment(call.forge, comment, call.actor);
  return noContent;
}

function assertOwnOrAdmin({ forge, repository, actor }: RepositoryCall, comment: CommentRow): void {
  if (comment.userId === actor.id || roleOfPerson(forge, actor, repository) === "admin") return;
  throw new ApiError(403, "Must have admin rights to Repository.");
}
