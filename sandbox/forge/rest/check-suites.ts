import { rerequestCheckSuite, findOrCreateSuite } from "../actions/report-check.ts";
import { needCommit } from "../git/commits.ts";
import { presentCheckSuite } from "../present/check.ts";
import type { CheckSuiteRow } from "../rows.ts";
import { commitKey } from "../state.ts";
import { notFound } from "../server/api-error.ts";
import { paged } from "../server/paging.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { appIdOf, headOf, listRuns } from "./checks.ts";
import { commitOf } from "./commits.ts";

/** A check suite is all runs of one App on one commit. */
export const checkSuiteRoutes = [
  repositoryRoute("POST", "/check-suites/{check_suite_id}/rerequest", "checks:write", rerequestSuite),
  repositoryRoute("GET", "/commits/{ref}/check-suites", "checks:read", listSuitesOfCommit),
  repositoryRoute("POST", "/check-suites", "checks:write", createSuite),
  repositoryRoute("GET", "/check-suites/{check_suite_id}", "checks:read", readSuite),
  repositoryRoute("GET", "/check-suites/{check_suite_id}/check-runs", "checks:read", listOfSuite),
];

function suiteOf({ forge, repository, params }: RepositoryCall): CheckSuiteRow {
  const suite = forge.state.checkSuites.get(Number(params["check_suite_id"]));
  if (suite?.repositoryId !== repository.id) throw notFound();
  return suite;
}

async function showSuite({ forge, repository }: RepositoryCall, suite: CheckSuiteRow) {
  const head = await needCommit(forge.git.repository(repository.id), suite.headSha);
  return presentCheckSuite(forge, repository, suite, head);
}

async function listSuitesOfCommit(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const suites = forge.state.checkSuites.inGroup(commitKey(repository.id, sha));
  const wrap = (check_suites: readonly unknown[]) => ({ total_count: suites.length, check_suites });
  return paged(call, suites, (suite) => showSuite(call, suite), wrap);
}

async function createSuite(call: RepositoryCall) {
  const { forge, repository } = call;
  const headSha = await headOf(call);
  const key = commitKey(repository.id, headSha);
  const isKnown = forge.state.checkSuites.inGroup(key).some((each) => each.appId === appIdOf(call));
  const body = await showSuite(call, await findOrCreateSuite(forge, repository, headSha, appIdOf(call)));
  return isKnown ? ok(body) : created(body, body.url);
}

async function readSuite(call: RepositoryCall) {
  return ok(await showSuite(call, suiteOf(call)));
}

async function rerequestSuite(call: RepositoryCall) {
  await rerequestCheckSuite(call.forge, call.repository, call.actor, suiteOf(call));
  return created({});
}

function listOfSuite(call: RepositoryCall) {
  const suite = suiteOf(call);
  const all = call.forge.state.checkRuns.inGroup(commitKey(suite.repositoryId, suite.headSha));
  return listRuns(
    call,
    all.filter((each) => each.suiteId === suite.id),
  );
}
