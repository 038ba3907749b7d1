import { latestStatuses } from "../queries/commit-outcomes.ts";
import { reportStatus } from "../actions/report-status.ts";
import { readCommit } from "../git/commits.ts";
import { presentCombinedStatus, presentStatus } from "../present/status.ts";
import { repositoryUrl } from "../present/repository.ts";
import { commitKey } from "../state.ts";
import { invalidFields, unprocessable } from "../server/api-error.ts";
import { optionalChoice, optionalText } from "../server/body-fields.ts";
import { paged, pageOf, linkHeaders } from "../server/paging.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { commitOf } from "./commits.ts";

export const statusRoutes = [
  repositoryRoute("POST", "/statuses/{sha}", "statuses:write", create),
  repositoryRoute("GET", "/commits/{ref}/status", "statuses:read", readCombined),
  repositoryRoute("GET", "/commits/{ref}/statuses", "statuses:read", list),
];

async function create(call: RepositoryCall) {
  const { forge, repository, params, fields, actor } = call;
  const given = params["sha"] ?? "";
  const commit = /^[0-9a-f]{40}$/.test(given)
    ? await readCommit(forge.git.repository(repository.id), given)
    : null;
  if (commit === null) throw unprocessable(`No commit found for SHA: ${given}`);
  const state = optionalChoice(fields, "state", ["error", "failure", "pending", "success"]);
  if (state === undefined) throw invalidFields({ resource: "Status", field: "state", code: "missing_field" });
  const status = await reportStatus(forge, repository, actor, {
    sha: commit.sha,
    state,
    context: optionalText(fields, "context") ?? "default",
    description: optionalText(fields, "description") ?? null,
    targetUrl: optionalText(fields, "target_url") ?? null,
  });
  return created(
    presentStatus(forge, repository, status),
    repositoryUrl(forge, repository, "statuses", commit.sha),
  );
}

async function readCombined(call: RepositoryCall) {
  const { forge, repository, params, query } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const latest = latestStatuses(forge, repository.id, sha);
  const page = pageOf(query);
  const body = presentCombinedStatus(forge, repository, sha, latest);
  const statuses = body.statuses.slice(page.skip, page.skip + page.size);
  return ok({ ...body, statuses }, linkHeaders(call, page, Math.ceil(latest.length / page.size)));
}

async function list(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const sha = await commitOf(call, params["ref"] ?? "");
  const statuses = forge.state.statuses.inGroup(commitKey(repository.id, sha)).toReversed();
  return paged(call, statuses, (status) => presentStatus(forge, repository, status));
}
