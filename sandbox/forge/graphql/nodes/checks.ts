import {
  latestCheckRuns,
  latestStatuses,
  outcomesOf,
  type ReportedOutcome,
} from "../../queries/commit-outcomes.ts";
import { suiteState } from "../../present/check.ts";
import { protectionOf } from "../../actions/protection.ts";
import { rulesetsOf } from "../../queries/rulesets.ts";
import { NODE_PREFIXES, namedNodeId, nodeId } from "../../node-id.ts";
import type {
  CheckAnnotation,
  CheckRunRow,
  CheckSuiteRow,
  RepositoryRow,
  StatusRow,
  WorkflowRun,
} from "../../rows.ts";
import { connection, type PageArgs } from "../connection.ts";
import { assertMayRead } from "../permission.ts";
import { repositoryPath, type GraphqlObject, type Scope } from "../scope.ts";

interface RequiredArgs {
  readonly pullRequestId?: string;
  readonly pullRequestNumber?: number;
}

export function checkRunObject(scope: Scope, row: CheckRunRow): GraphqlObject {
  const repository = scope.forge.state.repositories.need(row.repositoryId);
  const resourcePath = `${repositoryPath(scope, repository)}/runs/${row.id}`;
  const url = `${scope.forge.urls.root}${resourcePath}`;
  return {
    __typename: "CheckRun",
    id: nodeId(NODE_PREFIXES.checkRun, row.id),
    databaseId: row.id,
    name: row.name,
    status: row.status.toUpperCase(),
    conclusion: row.conclusion?.toUpperCase() ?? null,
    detailsUrl: row.detailsUrl,
    externalId: row.externalId,
    title: row.output.title,
    summary: row.output.summary,
    text: row.output.text,
    startedAt: row.startedAt,
    completedAt: row.completedAt,
    url,
    permalink: url,
    resourcePath,
    repository: () => scope.repository(repository),
    checkSuite: () => scope.checkSuite(scope.forge.state.checkSuites.need(row.suiteId)),
    annotations: (args: PageArgs) =>
      connection("annotations", row.annotations, args, (each) =>
        annotation(scope, repository, row.headSha, each),
      ),
    isRequired: (args: RequiredArgs) => isRequired(scope, repository, row.name, args),
  };
}

function annotation(
  scope: Scope,
  repository: RepositoryRow,
  sha: string,
  row: CheckAnnotation,
): GraphqlObject {
  return {
    __typename: "CheckAnnotation",
    annotationLevel: row.level.toUpperCase(),
    blobUrl: `${scope.forge.urls.root}${repositoryPath(scope, repository)}/blob/${sha}/${row.path}`,
    location: {
      start: { line: row.startLine, column: row.startColumn },
      end: { line: row.endLine, column: row.endColumn },
    },
    message: row.message,
    path: row.path,
    rawDetails: row.rawDetails,
    title: row.title,
  };
}

export function statusContextObject(scope: Scope, row: StatusRow): GraphqlObject {
  const repository = scope.forge.state.repositories.need(row.repositoryId);
  return {
    __typename: "StatusContext",
    id: nodeId(NODE_PREFIXES.status, row.id),
    avatarUrl: `${scope.forge.urls.root}/avatars/u/${row.creatorId}`,
    commit: () => scope.commit(repository, row.sha),
    context: row.context,
    createdAt: row.createdAt,
    creator: () => scope.account(row.creatorId),
    description: row.description,
    state: row.state.toUpperCase(),
    targetUrl: row.targetUrl,
    isRequired: (args: RequiredArgs) => isRequired(scope, repository, row.context, args),
  };
}

/** Whether the pull request's base branch requires this check. */
function isRequired({ forge }: Scope, repository: RepositoryRow, name: string, args: RequiredArgs): boolean {
  const rows = forge.state.pullRequests.inGroup(repository.id);
  const pull = rows.find(
    (row) =>
      row.number === args.pullRequestNumber ||
      nodeId(NODE_PREFIXES.pullRequest, row.id) === args.pullRequestId,
  );
  if (pull === undefined) return false;
  const { checks = [] } = protectionOf(forge, repository, pull.baseRef)?.requiredStatusChecks ?? {};
  const ofRulesets = rulesetsOf(forge, repository.id, pull.baseRef).flatMap((each) => each.requiredChecks);
  return [...checks, ...ofRulesets].some((check) => check.context === name);
}

export function checkSuiteObject(scope: Scope, row: CheckSuiteRow): GraphqlObject {
  const { state, urls } = scope.forge;
  const repository = state.repositories.need(row.repositoryId);
  const { status, conclusion, runs } = suiteState(scope.forge, row);
  const resourcePath = `${repositoryPath(scope, repository)}/commit/${row.headSha}/checks?check_suite_id=${row.id}`;
  return {
    __typename: "CheckSuite",
    id: nodeId(NODE_PREFIXES.checkSuite, row.id),
    databaseId: row.id,
    app: () => scope.app(row.appId),
    checkRuns: (args: PageArgs) => connection("checkRuns", runs, args, (run) => scope.checkRun(run)),
    commit: () => scope.commit(repository, row.headSha),
    status: status.toUpperCase(),
    conclusion: conclusion?.toUpperCase() ?? null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    url: `${urls.root}${resourcePath}`,
    resourcePath,
    repository: () => scope.repository(repository),
    workflowRun: () => {
      assertMayRead(scope.caller, repository, "actions:read");
      return row.workflowRun ? workflowRunObject(scope, row, row.workflowRun) : null;
    },
  };
}

function workflowRunObject(scope: Scope, suite: CheckSuiteRow, run: WorkflowRun): GraphqlObject {
  const repository = scope.forge.state.repositories.need(suite.repositoryId);
  const path = `${repositoryPath(scope, repository)}/actions`;
  const common = ({ prefix, id, resourcePath }: { prefix: string; id: number; resourcePath: string }) => ({
    id: nodeId(prefix, id),
    databaseId: id,
    createdAt: suite.createdAt,
    updatedAt: suite.updatedAt,
    resourcePath,
    url: `${scope.forge.urls.root}${resourcePath}`,
  });
  const { runId, workflowId } = run;
  return {
    __typename: "WorkflowRun",
    ...common({ prefix: NODE_PREFIXES.workflowRun, id: runId, resourcePath: `${path}/runs/${runId}` }),
    checkSuite: () => scope.checkSuite(suite),
    event: run.event,
    runNumber: run.runNumber,
    workflow: {
      __typename: "Workflow",
      ...common({
        prefix: NODE_PREFIXES.workflow,
        id: workflowId,
        resourcePath: `${path}/workflows/${workflowId}`,
      }),
      name: run.workflow,
    },
  };
}

export function rollupObject(scope: Scope, repository: RepositoryRow, sha: string): GraphqlObject | null {
  const runs = latestCheckRuns(scope.forge, repository.id, sha);
  const statuses = latestStatuses(scope.forge, repository.id, sha);
  if (runs.length + statuses.length === 0) return null;
  const contexts = [
    ...runs.map((run) => () => scope.checkRun(run)),
    ...statuses.map((status) => () => scope.statusContext(status)),
  ];
  return {
    __typename: "StatusCheckRollup",
    id: namedNodeId(NODE_PREFIXES.rollup, repository.id, sha),
    commit: () => scope.commit(repository, sha),
    state: rollupState(outcomesOf(scope.forge, repository.id, sha)),
    contexts: (args: PageArgs) =>
      connection("contexts", contexts, args, (toNode) => toNode(), {
        checkRunCount: runs.length,
        statusContextCount: statuses.length,
      }),
  };
}

function rollupState(reported: readonly ReportedOutcome[]): string {
  if (reported.some((each) => each.outcome === "failing")) return "FAILURE";
  return reported.some((each) => each.outcome === "pending") ? "PENDING" : "SUCCESS";
}
