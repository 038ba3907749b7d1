import { latestCheckRuns } from "../queries/commit-outcomes.ts";
import {
  createCheckRun,
  rerequestCheckRun,
  updateCheckRun,
  type CheckRunChange,
} from "../actions/report-check.ts";
import { readCommit } from "../git/commits.ts";
import { presentAnnotation, presentCheckRun } from "../present/check.ts";
import type { CheckAnnotation, CheckConclusion, CheckRunRow, CheckStatus } from "../rows.ts";
import { commitKey } from "../state.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import {
  optionalChoice,
  optionalFields,
  optionalFieldsList,
  optionalNumber,
  optionalText,
  requiredText,
  type Fields,
} from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { commitOf } from "./commits.ts";

/**
 * On GitHub only Apps may write check runs. The sandbox has no CI, so users' tokens may too. Their
 * runs belong to the sandbox App.
 */
export const checkRoutes = [
  repositoryRoute("POST", "/check-runs", "checks:write", create),
  repositoryRoute("GET", "/check-runs/{check_run_id}", "checks:read", readOne),
  repositoryRoute("PATCH", "/check-runs/{check_run_id}", "checks:write", update),
  repositoryRoute("GET", "/check-runs/{check_run_id}/annotations", "checks:read", listAnnotations),
  repositoryRoute("POST", "/check-runs/{check_run_id}/rerequest", "checks:write", rerequest),
  repositoryRoute("GET", "/commits/{ref}/check-runs", "checks:read", listOfCommit),
];

const STATUSES: readonly CheckStatus[] = [
  "queued",
  "in_progress",
  "completed",
  "waiting",
  "requested",
  "pending",
];
const CONCLUSIONS: readonly CheckConclusion[] = [
  "action_required",
  "cancelled",
  "failure",
  "neutral",
  "success",
  "skipped",
  "stale",
  "timed_out",
];
/** GitHub's limit for one call. */
const MAX_ANNOTATIONS = 50;

function runOf({ forge, repository, params }: RepositoryCall): CheckRunRow {
  const run = forge.state.checkRuns.get(Number(params["check_run_id"]));
  if (run?.repositoryId !== repository.id) throw notFound();
  return run;
}

export async function headOf({ forge, repository, fields }: RepositoryCall): Promise<string> {
  const sha = requiredText(fields, "head_sha");
  const commit = /^[0-9a-f]{40}$/.test(sha)
    ? await readCommit(forge.git.repository(repository.id), sha)
    : null;
  if (commit === null) throw unprocessable(`No commit found for SHA: ${sha}`);
  return commit.sha;
}

export function appIdOf({ forge, caller }: RepositoryCall): number {
  if (caller.kind === "installation") return caller.installation.appId;
  return forge.state.apps.all()[0]?.id ?? 0;
}

async function create(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const name = requiredText(fields, "name");
  const headSha = await headOf(call);
  const change = { ...changeFrom(call, []), name, headSha, appId: appIdOf(call) };
  const run = await createCheckRun(forge, repository, actor, change);
  const body = presentCheckRun(forge, repository, run);
  return created(body, body.url);
}

async function update(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const run = runOf(call);
  const name = optionalText(fields, "name");
  const change = { ...changeFrom(call, run.annotations), ...(name === undefined ? {} : { name }) };
  return ok(presentCheckRun(forge, repository, await updateCheckRun(forge, repository, actor, run, change)));
}

/** The change that the body asks for. A conclusion completes the run. */
function changeFrom(
  { forge, fields }: RepositoryCall,
  annotations: readonly CheckAnnotation[],
): CheckRunChange {
  const conclusion = optionalChoice(fields, "conclusion", CONCLUSIONS);
  const requested = optionalChoice(fields, "status", STATUSES);
  if (requested === "completed" && conclusion === undefined)
    throw unprocessable(`Invalid request.\n\n"conclusion" wasn't supplied.`);
  const status = conclusion === undefined ? requested : "completed";
  const output = optionalFields(fields, "output");
  const completedAt =
    optionalText(fields, "completed_at") ?? (status === "completed" ? forge.now() : undefined);
  const change = {
    status,
    conclusion: conclusion ?? (status === undefined ? undefined : null),
    detailsUrl: optionalText(fields, "details_url"),
    externalId: optionalText(fields, "external_id"),
    startedAt: optionalText(fields, "started_at"),
    completedAt: completedAt ?? (status === undefined ? undefined : null),
    output: output && outputFrom(output),
    annotations: output && [...annotations, ...annotationsFrom(output)],
  };
  // Omitted fields stay as they are.
  return Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as CheckRunChange;
}

const outputFrom = (output: Fields) => ({
  title: optionalText(output, "title") ?? null,
  summary: optionalText(output, "summary") ?? null,
  text: optionalText(output, "text") ?? null,
});

function annotationsFrom(output: Fields): CheckAnnotation[] {
  const given = optionalFieldsList(output, "annotations") ?? [];
  if (given.length > MAX_ANNOTATIONS)
    throw unprocessable(
      `Invalid request.\n\nNo more than ${MAX_ANNOTATIONS} items are allowed; ${given.length} were supplied.`,
    );
  return given.map((each) => {
    const level = optionalChoice(each, "annotation_level", ["notice", "warning", "failure"]);
    const startLine = optionalNumber(each, "start_line");
    if (level === undefined || startLine === undefined)
      throw unprocessable(
        `Invalid request.\n\n"${level === undefined ? "annotation_level" : "start_line"}" wasn't supplied.`,
      );
    return {
      path: requiredText(each, "path"),
      startLine,
      endLine: optionalNumber(each, "end_line") ?? startLine,
      startColumn: optionalNumber(each, "start_column") ?? null,
      endColumn: optionalNumber(each, "end_column") ?? null,
      level,
      title: optionalText(each, "title") ?? null,
      message: requiredText(each, "message"),
      rawDetails: optionalText(each, "raw_details") ?? null,
    };
  });
}

function readOne(call: RepositoryCall) {
  return ok(presentCheckRun(call.forge, call.repository, runOf(call)));
}

function listAnnotations(call: RepositoryCall) {
  const run = runOf(call);
  return paged(call, run.annotations, (each) => presentAnnotation(call.forge, call.repository, run, each));
}

async function rerequest(call: RepositoryCall) {
  const run = runOf(call);
  await rerequestCheckRun(call.forge, call.repository, call.actor, run);
  return created({});
}

async function listOfCommit(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const isAll = call.query.get("filter") === "all";
  const all = forge.state.checkRuns.inGroup(commitKey(repository.id, sha));
  return listRuns(call, isAll ? all : latestCheckRuns(forge, repository.id, sha));
}

export function listRuns(call: RepositoryCall, runs: readonly CheckRunRow[]) {
  const { forge, repository, query } = call;
  const name = query.get("check_name");
  const status = query.get("status");
  const appId = query.get("app_id");
  const chosen = runs
    .filter((each) => name === null || each.name === name)
    .filter((each) => status === null || each.status === status)
    .filter((each) => appId === null || String(each.appId) === appId);
  const wrap = (check_runs: readonly unknown[]) => ({ total_count: chosen.length, check_runs });
  return paged(call, chosen, (run) => presentCheckRun(forge, repository, run), wrap);
}
