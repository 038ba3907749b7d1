import type { ForgeContext } from "../context.ts";
import { presentComment, presentIssue } from "../present/review.ts";
import type { AccountRow, CommentRow, PullRequestRow } from "../rows.ts";
import { invalidFields } from "../server/api-error.ts";
import { emit } from "../webhooks/emit.ts";
import { MAX_BODY_LENGTH } from "./open-pull-request.ts";

const bodyError = (message: string) =>
  invalidFields({ resource: "IssueComment", code: "custom", field: "body", message });

function checkBody(body: string): void {
  if (body.trim() === "") throw bodyError("Body cannot be blank");
  if (body.length > MAX_BODY_LENGTH)
    throw bodyError(`body is too long (maximum is ${MAX_BODY_LENGTH} characters)`);
}

/** Adds a comment to a pull request's conversation. Throws GitHub's refusals. */
export async function addComment(
  forge: ForgeContext,
  pull: PullRequestRow,
  by: AccountRow,
  body: string,
  viaAppId: number | null,
): Promise<CommentRow> {
  checkBody(body);
  const now = forge.now();
  const row = forge.state.comments.save({
    id: forge.state.newId(),
    pullRequestId: pull.id,
    userId: by.id,
    body,
    viaAppId,
    createdAt: now,
    updatedAt: now,
  });
  const touched = forge.state.pullRequests.update(pull.id, { updatedAt: now });
  await emitComment(forge, touched, row, "created", by);
  return row;
}

export async function editComment(
  forge: ForgeContext,
  comment: CommentRow,
  by: AccountRow,
  body: string,
): Promise<CommentRow> {
  checkBody(body);
  if (body === comment.body) return comment;
  const row = forge.state.comments.update(comment.id, { body, updatedAt: forge.now() });
  const pull = forge.state.pullRequests.need(comment.pullRequestId);
  await emitComment(forge, pull, row, "edited", by, { changes: { body: { from: comment.body } } });
  return row;
}

/** Hides a comment as spam or outdated. GitHub reports that as an edit without changes. */
export async function hideComment(forge: ForgeContext, comment: CommentRow, by: AccountRow): Promise<void> {
  const row = forge.state.comments.update(comment.id, { updatedAt: forge.now() });
  const pull = forge.state.pullRequests.need(comment.pullRequestId);
  await emitComment(forge, pull, row, "edited", by, { changes: {} });
}

export async function deleteComment(forge: ForgeContext, comment: CommentRow, by: AccountRow): Promise<void> {
  forge.state.comments.delete(comment.id);
  await emitComment(forge, forge.state.pullRequests.need(comment.pullRequestId), comment, "deleted", by);
}

async function emitComment(
  forge: ForgeContext,
  pull: PullRequestRow,
  comment: CommentRow,
  action: "created" | "edited" | "deleted",
  sender: AccountRow,
  more: object = {},
): Promise<void> {
  const repository = forge.state.repositories.need(pull.repositoryId);
  await emit(forge, {
    event: "issue_comment",
    action,
    repository,
    sender,
    payload: () => ({
      issue: presentIssue(forge, repository, pull),
      comment: presentComment(forge, repository, pull, comment),
      ...more,
    }),
  });
}
