import { addComment as addCommentNow } from "../../actions/comments.ts";
import { setDraft } from "../../actions/edit-pull-request.ts";
import { disableAutoMerge, enableAutoMerge } from "../../actions/auto-merge.ts";
import { mergePullRequest as mergeNow } from "../../actions/merge-pull-request.ts";
import { dequeuePullRequest as dequeue, enqueuePullRequest as enqueue } from "../../actions/merge-queue.ts";
import { mayChangeWorkflows } from "../../queries/workflow-files.ts";
import { protectionOf } from "../../actions/protection.ts";
import { revertPullRequest as revert } from "../../actions/revert-pull-request.ts";
import type { MergeMethod } from "../../rows.ts";
import { cursorOf } from "../connection.ts";
import { mergeQueueEntryObject } from "../nodes/merge-queue.ts";
import { pullRequestToWrite } from "../permission.ts";
import { unprocessable } from "../refusal.ts";
import type { Mutation, Scope } from "../scope.ts";

interface MergeInput {
  readonly pullRequestId: string;
  readonly mergeMethod?: "MERGE" | "SQUASH" | "REBASE" | null;
  readonly expectedHeadOid?: string | null;
  readonly commitHeadline?: string | null;
  readonly commitBody?: string | null;
}

const METHODS: Readonly<Record<string, MergeMethod>> = { MERGE: "merge", SQUASH: "squash", REBASE: "rebase" };
const methodOf = (input: MergeInput): MergeMethod => METHODS[input.mergeMethod ?? "MERGE"] ?? "merge";

export const mergePullRequest: Mutation<MergeInput> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(scope, input.pullRequestId, "contents:write");
  await mergeNow(scope.forge, pull.id, {
    by,
    method: methodOf(input),
    headSha: input.expectedHeadOid ?? null,
    title: input.commitHeadline ?? null,
    message: input.commitBody ?? null,
    lacksWorkflows: !mayChangeWorkflows(scope.caller),
  });
  return {
    actor: scope.accountOf(by),
    pullRequest: scope.pullRequest(scope.forge.state.pullRequests.need(pull.id)),
  };
};

export const enablePullRequestAutoMerge: Mutation<MergeInput> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(
    scope,
    input.pullRequestId,
    "contents:write",
    "pull_requests:write",
  );
  const row = await enableAutoMerge(scope.forge, pull.id, {
    enabledById: by.id,
    mergeMethod: methodOf(input),
    headSha: input.expectedHeadOid ?? null,
    commitTitle: input.commitHeadline ?? null,
    commitMessage: input.commitBody ?? null,
  });
  return { actor: scope.accountOf(by), pullRequest: scope.pullRequest(row) };
};

export const disablePullRequestAutoMerge: Mutation<{ pullRequestId: string }> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(scope, input.pullRequestId, "pull_requests:write");
  const row = await disableAutoMerge(scope.forge, pull.id, by);
  return { actor: scope.accountOf(by), pullRequest: scope.pullRequest(row) };
};

export const enqueuePullRequest: Mutation<{
  pullRequestId: string;
  expectedHeadOid?: string | null;
}> = async ({ input }, scope) => {
  const { pull, repository, by } = pullRequestToWrite(scope, input.pullRequestId, "contents:write");
  if (protectionOf(scope.forge, repository, pull.baseRef)?.mergeQueue !== true)
    throw unprocessable("The base branch does not have a merge queue.");
  const row = await enqueue(scope.forge, pull.id, by, input.expectedHeadOid ?? null);
  return { mergeQueueEntry: mergeQueueEntryObject(scope, row) };
};

export const dequeuePullRequest: Mutation<{ id: string }> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(scope, input.id, "contents:write");
  const mergeQueueEntry = mergeQueueEntryObject(scope, pull);
  await dequeue(scope.forge, pull.id, by, "MANUAL");
  return { mergeQueueEntry };
};

interface RevertInput {
  readonly pullRequestId: string;
  readonly title?: string | null;
  readonly body?: string | null;
  readonly draft?: boolean | null;
}

export const revertPullRequest: Mutation<RevertInput> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(
    scope,
    input.pullRequestId,
    "contents:write",
    "pull_requests:write",
  );
  const { title = null, body = null, draft } = input;
  const opened = await revert(scope.forge, pull, { by, title, body, draft: draft ?? false });
  return { pullRequest: scope.pullRequest(pull), revertPullRequest: scope.pullRequest(opened) };
};

/** The subject must be a pull request: the forge has no issues. */
export const addComment: Mutation<{ subjectId: string; body: string }> = async ({ input }, scope) => {
  const { pull, by } = pullRequestToWrite(scope, input.subjectId, "pull_requests:write");
  const viaAppId = scope.caller.kind === "installation" ? scope.caller.installation.appId : null;
  const row = await addCommentNow(scope.forge, pull, by, input.body, viaAppId);
  const position = scope.forge.state.comments.inGroup(pull.id).length - 1;
  return {
    subject: scope.pullRequest(scope.forge.state.pullRequests.need(pull.id)),
    commentEdge: { cursor: cursorOf(position), node: () => scope.comment(row) },
  };
};

export const markPullRequestReadyForReview: Mutation<{ pullRequestId: string }> = ({ input }, scope) =>
  changeDraft(scope, input.pullRequestId, false);
export const convertPullRequestToDraft: Mutation<{ pullRequestId: string }> = ({ input }, scope) =>
  changeDraft(scope, input.pullRequestId, true);

/** GitHub refuses installations that have only `pull_requests:write`. */
async function changeDraft(scope: Scope, pullRequestId: string, draft: boolean): Promise<object> {
  const { pull, by } = pullRequestToWrite(scope, pullRequestId, "contents:write", "pull_requests:write");
  return { pullRequest: scope.pullRequest(await setDraft(scope.forge, pull.id, by, draft)) };
}
