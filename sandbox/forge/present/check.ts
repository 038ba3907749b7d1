import type { ForgeContext } from "../context.ts";
import type { Commit } from "../git/commits.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type {
  CheckAnnotation,
  CheckConclusion,
  CheckRunRow,
  CheckStatus,
  CheckSuiteRow,
  RepositoryRow,
} from "../rows.ts";
import { latestCheckRuns } from "../queries/commit-outcomes.ts";
import { pullRequestsAt } from "../queries/branches-at.ts";
import { presentSimpleCommit } from "./commit.ts";
import { presentAppById } from "./installation.ts";
import { presentMinimalPullRequest } from "./pull-request.ts";
import { presentMinimalRepository, repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

const pullRequests = (forge: ForgeContext, repository: RepositoryRow, sha: string) =>
  pullRequestsAt(forge, repository, sha).map((pull) => presentMinimalPullRequest(forge, repository, pull));

export function presentCheckRun(forge: ForgeContext, repository: RepositoryRow, run: CheckRunRow) {
  const url = repositoryUrl(forge, repository, "check-runs", run.id);
  const html = repositoryHtmlUrl(forge, repository, "runs", run.id);
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId(NODE_PREFIXES.checkRun, run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: html,
    details_url: run.detailsUrl ?? html,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      ...run.output,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: run.suiteId },
    app: presentAppById(forge, run.appId),
    pull_requests: pullRequests(forge, repository, run.headSha),
  };
}

export function presentAnnotation(
  forge: ForgeContext,
  repository: RepositoryRow,
  run: CheckRunRow,
  annotation: CheckAnnotation,
) {
  return {
    path: annotation.path,
    blob_href: repositoryHtmlUrl(forge, repository, "blob", run.headSha, annotation.path),
    start_line: annotation.startLine,
    end_line: annotation.endLine,
    start_column: annotation.startColumn,
    end_column: annotation.endColumn,
    annotation_level: annotation.level,
    title: annotation.title,
    message: annotation.message,
    raw_details: annotation.rawDetails,
  };
}

/** The state of a suite follows from the newest run of each name. */
export function suiteState(
  forge: ForgeContext,
  suite: CheckSuiteRow,
): { status: CheckStatus; conclusion: CheckConclusion | null; runs: CheckRunRow[] } {
  const latest = latestCheckRuns(forge, suite.repositoryId, suite.headSha);
  const runs = latest.filter((each) => each.suiteId === suite.id);
  const { conclusion: ofSuite = null } = suite;
  if (runs.length === 0) return { status: ofSuite ? "completed" : "queued", conclusion: ofSuite, runs };
  if (runs.some((each) => each.status !== "completed")) {
    const isRunning = runs.some((each) => each.status === "in_progress" || each.status === "completed");
    return { status: isRunning ? "in_progress" : "queued", conclusion: null, runs };
  }
  const conclusions = new Set(runs.map((each) => each.conclusion));
  const worst = SEVERITY.find((each) => conclusions.has(each));
  return { status: "completed", conclusion: worst ?? "success", runs };
}

const SEVERITY: readonly CheckConclusion[] = [
  "startup_failure",
  "failure",
  "timed_out",
  "cancelled",
  "action_required",
  "stale",
  "success",
  "neutral",
  "skipped",
];

/** A suite inside the check run of a webhook. */
export function presentSuiteOfRun(forge: ForgeContext, repository: RepositoryRow, suite: CheckSuiteRow) {
  const { status, conclusion } = suiteState(forge, suite);
  return {
    id: suite.id,
    node_id: nodeId(NODE_PREFIXES.checkSuite, suite.id),
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    status,
    conclusion,
    url: repositoryUrl(forge, repository, "check-suites", suite.id),
    before: suite.before,
    after: suite.headSha,
    pull_requests: pullRequests(forge, repository, suite.headSha),
    app: presentAppById(forge, suite.appId),
    created_at: suite.createdAt,
    updated_at: suite.updatedAt,
  };
}

export function presentCheckSuite(
  forge: ForgeContext,
  repository: RepositoryRow,
  suite: CheckSuiteRow,
  head: Commit,
) {
  const own = presentSuiteOfRun(forge, repository, suite);
  return {
    ...own,
    repository: presentMinimalRepository(forge, repository),
    head_commit: presentSimpleCommit(head),
    latest_check_runs_count: suiteState(forge, suite).runs.length,
    check_runs_url: `${own.url}/check-runs`,
    rerequestable: true,
    runs_rerequestable: true,
  };
}
