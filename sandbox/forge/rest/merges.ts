import { mergeBranch } from "../actions/merge-branch.ts";
import { mergeRequestOf, pendingMerge, startAsyncMerge } from "../actions/merge-async.ts";
import { HEAD_MODIFIED, mergePullRequest, methodRefusal } from "../actions/merge-pull-request.ts";
import { mayChangeWorkflows } from "../queries/workflow-files.ts";
import { needCommit } from "../git/commits.ts";
import { presentCommit } from "../present/commit.ts";
import type { MergeMethod, MergeRequestRow, PullRequestRow } from "../rows.ts";
import { type ForgeResponse, invalidFields, notFound } from "../server/api-error.ts";
import { optionalChoice, optionalText, requiredText } from "../server/body-fields.ts";
import { created, noContent, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { pullOf } from "./pulls.ts";

export const mergeRoutes = [
  repositoryRoute("GET", "/pulls/{pull_number}/merge", ["pull_requests:read", "contents:read"], isMerged),
  repositoryRoute("PUT", "/pulls/{pull_number}/merge", "contents:write", merge),
  repositoryRoute("PUT", "/pulls/{pull_number}/merge-async", "contents:write", startMerge),
  repositoryRoute("GET", "/pulls/{pull_number}/merge-async/{uuid}", "contents:read", readMerge),
  repositoryRoute("POST", "/merges", "contents:write", mergeBranches),
];

const METHODS = ["merge", "squash", "rebase"] as const;

function isMerged(call: RepositoryCall) {
  if (pullOf(call).mergedAt === null) throw notFound();
  return noContent;
}

/** The requested method, or the first one that the repository allows. */
function methodOf(call: RepositoryCall, pull: PullRequestRow): MergeMethod {
  const isDefault = optionalText(call.fields, "merge_method") === "default";
  const method = isDefault ? undefined : optionalChoice(call.fields, "merge_method", METHODS);
  if (method !== undefined) return method;
  return METHODS.find((each) => methodRefusal(call.forge, call.repository, pull, each) === null) ?? "merge";
}

async function merge(call: RepositoryCall) {
  const { forge, fields, actor } = call;
  const pull = pullOf(call);
  const { sha } = await mergePullRequest(forge, pull.id, {
    by: actor,
    method: optionalChoice(fields, "merge_method", METHODS) ?? "merge",
    headSha: headOf(call),
    title: optionalText(fields, "commit_title") ?? null,
    message: optionalText(fields, "commit_message") ?? null,
    lacksWorkflows: !mayChangeWorkflows(call.caller),
  });
  return ok({ sha, merged: true, message: "Pull Request successfully merged" });
}

function headOf({ fields }: RepositoryCall): string | null {
  const sha = optionalText(fields, "sha") ?? null;
  if (sha !== null && !/^[0-9a-f]{40}$/.test(sha))
    throw invalidFields({ resource: "PullRequest", field: "sha", code: "invalid" });
  return sha;
}

/** Accepts a merge and performs it after the response. Returns 409 while one is pending. */
function startMerge(call: RepositoryCall) {
  const { forge, fields, actor } = call;
  if (!forge.settings.hasAsyncMerge) throw notFound();
  const pull = pullOf(call);
  const refusal = nothingToStart(pull);
  if (refusal !== null) return refusal;
  const pending = pendingMerge(forge, pull);
  if (pending !== undefined)
    return presentMergeRequest(409, pending, "A merge request already exists for this pull request.");
  const headSha = headOf(call);
  if (headSha !== null && headSha !== pull.headSha) return failed(400, HEAD_MODIFIED);
  const row = startAsyncMerge(forge, pull, {
    by: actor,
    method: methodOf(call, pull),
    action: optionalChoice(fields, "merge_action", ["default", "direct_merge", "merge_queue"]) ?? "default",
    headSha,
    title: optionalText(fields, "commit_title") ?? null,
    message: optionalText(fields, "commit_message") ?? null,
    lacksWorkflows: !mayChangeWorkflows(call.caller),
  });
  return presentMergeRequest(202, row, "Merge request accepted.");
}

const failed = (status: number, message: string) => ({
  status,
  body: { status: "failed", details: { message } },
});

/** The response if the pull request cannot be merged in its state; null if it can. */
function nothingToStart(pull: PullRequestRow) {
  if (pull.mergedAt !== null) {
    const details = { message: "Pull request is already merged.", sha: pull.mergeCommitSha ?? "" };
    return ok({ status: "merged", details });
  }
  if (pull.queuedAt !== null)
    return ok({ status: "enqueued", details: { message: "Pull request is already in the merge queue." } });
  if (pull.state === "closed") return failed(400, "Pull request is closed.");
  return pull.draft ? failed(400, "Pull Request is still a draft") : null;
}

function readMerge(call: RepositoryCall) {
  const row = mergeRequestOf(call.forge, pullOf(call), call.params["uuid"] ?? "");
  if (row === undefined || !call.forge.settings.hasAsyncMerge) throw notFound();
  return presentMergeRequest(200, row, "The merge is in progress.");
}

async function mergeBranches(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const sha = await mergeBranch(forge, repository.id, {
    by: actor,
    base: requiredText(fields, "base"),
    head: requiredText(fields, "head"),
    message: optionalText(fields, "commit_message") ?? null,
    lacksWorkflows: !mayChangeWorkflows(call.caller),
  });
  if (sha === null) return noContent;
  const commit = await needCommit(forge.git.repository(repository.id), sha);
  const body = presentCommit(forge, repository, commit);
  return created(body, body.url);
}

/** The state of an asynchronous merge. `pendingMessage` is the message while it is pending. */
function presentMergeRequest(
  httpStatus: number,
  row: MergeRequestRow,
  pendingMessage: string,
): ForgeResponse {
  return { status: httpStatus, body: { status: row.status, details: detailsOf(row, pendingMessage) } };
}

function detailsOf(row: MergeRequestRow, pendingMessage: string) {
  switch (row.status) {
    case "pending":
      return {
        message: pendingMessage,
        uuid: row.uuid,
        merge_method: row.mergeMethod,
        merge_action: row.mergeAction,
        expected_head_sha: row.expectedHeadSha,
      };
    case "merged":
      return { message: "Pull Request successfully merged", sha: row.sha ?? "" };
    case "enqueued":
      return { message: "Pull request was added to the merge queue." };
    case "failed":
      return { message: row.message ?? "The pull request could not be merged." };
  }
}
