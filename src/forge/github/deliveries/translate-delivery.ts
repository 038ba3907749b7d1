import type { z } from "zod";
import { outcomeOfCheckRun, outcomeOfEmptySuite, outcomeOfStatus } from "../../../flow/checks.ts";
import type { ForgeEvent, PullRequestEvent } from "../../events.ts";
import { TEMPORARY_BRANCHES } from "../../releasing.ts";
import * as shapes from "./delivery-shapes.ts";
import { reviewState } from "../pull-requests/conversation.ts";

interface TranslatedDelivery {
  readonly deliveryEvent: ForgeEvent;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  /** Why a delivery of a known kind could not be parsed; without payload, for the log. */
  readonly reason?: string;
}

const IRRELEVANT: ForgeEvent = { type: "irrelevant" };
const BRANCH_PREFIX = "refs/heads/";
const ZEROS = /^0+$/;

/** Each returns null for a well-formed payload that Trunkline does not need. */
const TRANSLATIONS = new Map<string, (payload: unknown) => ForgeEvent | null>([
  ["push", translatePush],
  ["pull_request", translatePullRequest],
  ["pull_request_review", translateReview],
  ["pull_request_review_thread", translateThread],
  ["issue_comment", translateComment],
  ["check_run", translateCheckRun],
  ["check_suite", translateCheckSuite],
  ["status", translateStatus],
  ["installation", translateInstallation],
  ["installation_repositories", translateInstallation],
  ["installation_target", translateInstallation],
  ["repository", translateRepository],
  ["github_app_authorization", translateAuthorization],
]);

export const isTranslated = (eventName: string): boolean => TRANSLATIONS.has(eventName);

/** Does not throw. */
export function sourceOf(payload: unknown): Pick<TranslatedDelivery, "repositoryId" | "installationId"> {
  const around = shapes.envelope.safeParse(payload);
  return {
    repositoryId: around.data?.repository?.id ?? null,
    installationId: around.data?.installation?.id ?? null,
  };
}

/** Does not throw: a webhook that cannot be parsed is irrelevant, with a reason. */
export function translateDelivery(eventName: string, payload: unknown): TranslatedDelivery {
  const ids = sourceOf(payload);
  try {
    return { deliveryEvent: TRANSLATIONS.get(eventName)?.(payload) ?? IRRELEVANT, ...ids };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { deliveryEvent: IRRELEVANT, ...ids, reason: error.message };
  }
}

class Unreadable extends Error {
  override readonly name = "Unreadable";
}

function read<T>(shape: z.ZodType<T>, payload: unknown): T {
  const parsed = shape.safeParse(payload);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Unreadable(`${issue?.path.join(".") || "payload"}: ${issue?.code ?? "unreadable"}`);
}

function translatePush(payload: unknown): ForgeEvent | null {
  const push = read(shapes.push, payload);
  if (!push.ref.startsWith(BRANCH_PREFIX) || shortName(push.ref).startsWith(TEMPORARY_BRANCHES)) return null;
  if (push.before === push.after) return null;
  return {
    type: "pushed",
    ...about(push, push.repository.pushed_at),
    branchName: shortName(push.ref),
    before: push.created || ZEROS.test(push.before) ? null : push.before,
    after: push.deleted || ZEROS.test(push.after) ? null : push.after,
    forced: push.forced,
    commits: push.commits.map(({ id, message }) => ({ sha: id, message })),
  };
}

type DeliveredPullRequest = z.infer<typeof shapes.pullRequest>;

function translatePullRequest(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.pullRequest, payload);
  const action = actionOf(delivered);
  if (action === null) return null;
  const pull = delivered.pull_request;
  const times = { opened: pull.created_at, closed: pull.closed_at, merged: pull.merged_at };
  const at = action in times ? times[action as keyof typeof times] : null;
  return {
    type: "pull_request",
    ...about(delivered, at ?? pull.updated_at),
    action,
    number: pull.number,
    nodeId: pull.node_id,
    title: pull.title ?? "",
    author: pull.user,
    isDraft: pull.draft ?? false,
    headBranch: shortName(pull.head.ref),
    headSha: pull.head.sha,
    headRepositoryId: pull.head.repo?.id ?? null,
    targetBranch: shortName(pull.base.ref),
    mergeSha: action === "merged" ? (pull.merge_commit_sha ?? null) : null,
    mergedBy: pull.merged_by,
    isEmptied: action === "closed" && pull.commits === 0,
    isContradictory: action === "closed" && (pull.state === "open" || typeof pull.merged !== "boolean"),
    reason: action === "dequeued" ? (delivered.reason ?? null) : null,
  };
}

const PULL_REQUEST_ACTIONS: ReadonlyMap<string, PullRequestEvent["action"]> = new Map([
  ["opened", "opened"],
  ["reopened", "reopened"],
  ["ready_for_review", "ready"],
  ["converted_to_draft", "converted_to_draft"],
  ["synchronize", "synchronized"],
  ["enqueued", "enqueued"],
  ["dequeued", "dequeued"],
]);

/** The reasons of `dequeued` after a merge, which `closed` reports. */
const LANDED: ReadonlySet<string> = new Set(["MERGE", "ALREADY_MERGED"]);

function actionOf(delivered: DeliveredPullRequest): PullRequestEvent["action"] | null {
  const action = delivered.action ?? "";
  if (action === "closed") {
    const { merged, commits } = delivered.pull_request;
    // Its branch was reset to its target: GitHub marks it as merged at the next push there.
    return merged === true && commits !== 0 ? "merged" : "closed";
  }
  if (action === "dequeued" && LANDED.has(delivered.reason ?? "")) return null;
  if (action === "edited") return isRetargeted(delivered) ? "retargeted" : null;
  if (action === "synchronize" && delivered.before && delivered.before === delivered.after) return null;
  return PULL_REQUEST_ACTIONS.get(action) ?? null;
}

function isRetargeted({ changes, pull_request: pull }: DeliveredPullRequest): boolean {
  const before = changes?.base?.ref?.from;
  return before !== undefined && before !== shortName(pull.base.ref);
}

/** Whether an `edited` event changed the text. */
const isTextChanged = (changes: DeliveredPullRequest["changes"], body: string | null | undefined): boolean =>
  typeof changes?.body?.from === "string" && changes.body.from !== (body ?? "");

function translateReview(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.review, payload);
  const action = delivered.action;
  const { review, pull_request: pull } = delivered;
  const { data: state } = reviewState.safeParse(review.state);
  if (state === undefined) return null;
  if (action === "edited") {
    const isEdit = state !== "dismissed" && isTextChanged(delivered.changes, review.body);
    return isEdit ? editedReview(delivered) : null;
  }
  if (action !== "submitted" && action !== "dismissed") return null;
  // `submitted_at` does not change when a review is dismissed.
  const at = action === "submitted" ? review.submitted_at : (review.updated_at ?? pull.updated_at);
  return {
    type: "review_submitted",
    ...about(delivered, at),
    number: pull.number,
    headBranch: shortName(pull.head?.ref ?? ""),
    headRepositoryId: pull.head?.repo?.id ?? null,
    reviewId: review.id,
    state: action === "dismissed" ? "dismissed" : state,
    body: review.body ?? "",
  };
}

function editedReview(delivered: z.infer<typeof shapes.review>): ForgeEvent {
  const { review, pull_request: pull } = delivered;
  return {
    type: "review_edited",
    ...about(delivered, review.updated_at ?? pull.updated_at),
    number: pull.number,
    reviewId: review.id,
    author: review.user ?? null,
    body: review.body ?? "",
  };
}

function translateThread(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.reviewThread, payload);
  if (delivered.action !== "resolved" && delivered.action !== "unresolved") return null;
  const { pull_request: pull, updated_at: at } = delivered;
  return { type: "thread_changed", ...about(delivered, at ?? pull.updated_at), number: pull.number };
}

/** GitHub reports comments on pull requests and on issues as issue comments. */
function translateComment(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.issueComment, payload);
  const { action, issue, comment } = delivered;
  if (action !== "created" && action !== "edited" && action !== "deleted") return null;
  if (!issue.pull_request) return null;
  if (action === "edited" && !isTextChanged(delivered.changes, comment.body)) return null;
  return {
    type: "commented",
    ...about(delivered, comment.updated_at ?? comment.created_at),
    action,
    number: issue.number,
    commentId: comment.id,
    author: comment.user,
    body: comment.body ?? "",
    writtenAt: comment.created_at,
  };
}

function translateCheckRun(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.checkRun, payload);
  const run = delivered.check_run;
  // A requested action reports no result.
  if (delivered.action === "requested_action") return null;
  return {
    type: "check_reported",
    ...about(delivered, run.completed_at ?? run.started_at),
    sha: run.head_sha,
    source: "check_run",
    name: run.name,
    appId: run.app?.id ?? null,
    suiteId: run.check_suite?.id ?? null,
    forgeId: run.id,
    outcome: outcomeOfCheckRun(run.status, run.conclusion ?? null),
    branchNames: branchesOf(run.check_suite?.head_branch, run.pull_requests, delivered.repository.id),
  };
}

/** Suites with runs say nothing more than these. */
function translateCheckSuite(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.checkSuite, payload);
  const { id, app, status, conclusion, ...suite } = delivered.check_suite;
  const outcome =
    suite.latest_check_runs_count === 0 ? outcomeOfEmptySuite(status ?? "", conclusion ?? null) : null;
  if (outcome === null) return null;
  return {
    type: "check_reported",
    ...about(delivered, suite.updated_at),
    sha: suite.head_sha,
    source: "check_suite",
    name: app?.name ?? "a workflow",
    appId: app?.id ?? null,
    suiteId: id,
    forgeId: id,
    outcome,
    branchNames: branchesOf(suite.head_branch, suite.pull_requests, delivered.repository.id),
  };
}

function branchesOf(
  headBranch: string | null | undefined,
  pulls: z.infer<typeof shapes.checkRun>["check_run"]["pull_requests"],
  repositoryId: number,
): string[] {
  const ours = pulls.filter(({ head }) => head.repo?.id === repositoryId).map(({ head }) => head.ref);
  return [...new Set([...(headBranch ? [headBranch] : []), ...ours])];
}

function translateStatus(payload: unknown): ForgeEvent {
  const delivered = read(shapes.status, payload);
  return {
    type: "check_reported",
    ...about(delivered, delivered.updated_at ?? delivered.created_at),
    sha: delivered.sha,
    source: "status",
    name: delivered.context,
    appId: null,
    suiteId: null,
    forgeId: delivered.id,
    outcome: outcomeOfStatus(delivered.state),
    // With several branches, the commit belongs to one of them, and the others were created at it.
    branchNames: delivered.branches.length === 1 ? delivered.branches.map(({ name }) => name) : [],
  };
}

function translateInstallation(payload: unknown): ForgeEvent | null {
  const id = read(shapes.envelope, payload).installation?.id;
  return id === undefined ? null : { type: "installation_changed", installationId: id };
}

function translateAuthorization(payload: unknown): ForgeEvent | null {
  const { action, sender } = read(shapes.authorization, payload);
  return action === "revoked" ? { type: "authorization_revoked", account: sender } : null;
}

const REPOSITORY_ACTIONS = new Set(["renamed", "transferred", "archived", "unarchived", "deleted"]);

/** Ignores changes of descriptions, topics and settings. */
function translateRepository(payload: unknown): ForgeEvent | null {
  const delivered = read(shapes.repository, payload);
  const isEdited = delivered.action === "edited" && delivered.changes?.default_branch !== undefined;
  if (!isEdited && !REPOSITORY_ACTIONS.has(delivered.action ?? "")) return null;
  return { type: "repository_changed", ...about(delivered, null) };
}

function about(delivered: z.infer<typeof shapes.fromRepository>, at: string | null) {
  const { repository, installation, sender } = delivered;
  return {
    installationId: installation?.id ?? null,
    repository: {
      forgeId: repository.id,
      fullName: repository.full_name,
      defaultBranch: repository.default_branch,
    },
    sender,
    at,
  };
}

/** GitHub has sent the full ref in `dequeued`. */
function shortName(ref: string): string {
  return ref.startsWith(BRANCH_PREFIX) ? ref.slice(BRANCH_PREFIX.length) : ref;
}
