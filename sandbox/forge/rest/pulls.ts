import { editPullRequest } from "../actions/edit-pull-request.ts";
import { updatePullBranch } from "../actions/merge-branch.ts";
import { mergeabilityOf } from "../actions/mergeability.ts";
import { openPullRequest } from "../actions/open-pull-request.ts";
import { diffFiles } from "../git/diff.ts";
import { commitsBetween, mergeBase } from "../git/history.ts";
import { readRef } from "../git/refs.ts";
import { presentCommit } from "../present/commit.ts";
import { presentDiffFile } from "../present/comparison.ts";
import { presentPullRequest, presentSimplePullRequest } from "../present/pull-request.ts";
import { repositoryUrl } from "../present/repository.ts";
import type { PullRequestRow } from "../rows.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import { optionalFlag, optionalText, requiredText } from "../server/body-fields.ts";
import { textHeader } from "../server/handle-call.ts";
import { paged } from "../server/paging.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

export const pullRoutes = [
  repositoryRoute("GET", "/pulls", "pull_requests:read", list),
  repositoryRoute("POST", "/pulls", "pull_requests:write", open),
  repositoryRoute("GET", "/pulls/{pull_number}", "pull_requests:read", readOne),
  repositoryRoute("PATCH", "/pulls/{pull_number}", "pull_requests:write", edit),
  repositoryRoute("GET", "/pulls/{pull_number}/commits", "pull_requests:read", listCommits),
  repositoryRoute("GET", "/pulls/{pull_number}/files", "pull_requests:read", listFiles),
  repositoryRoute("PUT", "/pulls/{pull_number}/update-branch", "pull_requests:write", updateBranch),
];

/** The pull request whose number is in the path. */
export function pullOf({ forge, repository, params }: RepositoryCall, name = "pull_number"): PullRequestRow {
  const number = Number(params[name]);
  const pull = forge.state.pullRequests.inGroup(repository.id).find((each) => each.number === number);
  if (pull === undefined) throw notFound();
  return pull;
}

async function list(call: RepositoryCall) {
  const { forge, repository, query } = call;
  const state = query.get("state") ?? "open";
  const base = query.get("base");
  const head = headFilter(call);
  const chosen = forge.state.pullRequests
    .inGroup(repository.id)
    .filter((each) => state === "all" || each.state === state)
    .filter((each) => base === null || each.baseRef === base)
    .filter((each) => head === null || each.headRef === head);
  const field = query.get("sort") === "updated" ? "updatedAt" : "createdAt";
  const isAscending = query.get("direction") === "asc";
  const sorted = chosen.toSorted((a, b) => a[field].localeCompare(b[field]) || a.number - b.number);
  return paged(call, isAscending ? sorted : sorted.toReversed(), (pull) =>
    presentSimplePullRequest(forge, repository, pull),
  );
}

/** The branch in `head`. GitHub ignores the filter if it does not name an owner. */
function headFilter({ forge, repository, query }: RepositoryCall): string | null {
  const [, owner, branch] = /^([^:]+):(.+)$/.exec(query.get("head") ?? "") ?? [];
  if (owner === undefined || branch === undefined) return null;
  const login = forge.state.accounts.need(repository.ownerId).login;
  // The forge has no forks, so another owner has no branch.
  return login.toLowerCase() === owner.toLowerCase() ? branch : "";
}

async function presentWhole({ forge, repository }: RepositoryCall, pull: PullRequestRow) {
  return presentPullRequest(forge, repository, pull, await mergeabilityOf(forge, repository, pull));
}

async function open(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  if (fields["issue"] !== undefined) throw unprocessable("Issues cannot be turned into pull requests here.");
  const pull = await openPullRequest(forge, repository.id, actor, {
    title: optionalText(fields, "title") ?? "",
    body: optionalText(fields, "body") ?? null,
    head: requiredText(fields, "head"),
    base: requiredText(fields, "base"),
    draft: optionalFlag(fields, "draft") ?? false,
    maintainerCanModify: optionalFlag(fields, "maintainer_can_modify") ?? false,
  });
  const body = await presentPullRequest(forge, repository, pull);
  return created(body, body.url);
}

async function readOne(call: RepositoryCall) {
  const pull = pullOf(call);
  const [, form] = /github(?:\.v3)?\.(diff|patch)/.exec(textHeader(call.apiCall, "accept") ?? "") ?? [];
  if (form === undefined) return ok(await presentWhole(call, pull));
  const repo = call.forge.git.repository(call.repository.id);
  const base = await comparisonBase(call, pull);
  const args =
    form === "diff"
      ? ["diff", `${base}...${pull.headSha}`]
      : ["format-patch", "--stdout", `${base}..${pull.headSha}`];
  return ok(`${await repo.text(args)}\n`, {
    "content-type": `application/vnd.github.v3.${form}; charset=utf-8`,
  });
}

async function edit(call: RepositoryCall) {
  const { forge, fields, actor } = call;
  const state = optionalText(fields, "state");
  const pull = await editPullRequest(forge, pullOf(call).id, actor, {
    title: optionalText(fields, "title"),
    body: fields["body"] === null ? null : optionalText(fields, "body"),
    base: optionalText(fields, "base"),
    // GitHub ignores any other value.
    state: state === "open" || state === "closed" ? state : undefined,
    maintainerCanModify: optionalFlag(fields, "maintainer_can_modify"),
  });
  return ok(await presentWhole(call, pull));
}

/** The base of the changes: the base branch's tip; after closing, the stored hash. */
async function comparisonBase({ forge, repository }: RepositoryCall, pull: PullRequestRow): Promise<string> {
  const repo = forge.git.repository(repository.id);
  const tip = pull.state === "open" ? await readRef(repo, `refs/heads/${pull.baseRef}`) : null;
  return tip ?? pull.baseSha;
}

async function listCommits(call: RepositoryCall) {
  const { forge, repository } = call;
  const pull = pullOf(call);
  const repo = forge.git.repository(repository.id);
  const commits = await commitsBetween(repo, await comparisonBase(call, pull), pull.headSha, 250);
  return paged(call, commits, (commit) => presentCommit(forge, repository, commit));
}

async function listFiles(call: RepositoryCall) {
  const { forge, repository } = call;
  const pull = pullOf(call);
  const repo = forge.git.repository(repository.id);
  const fork = await mergeBase(repo, await comparisonBase(call, pull), pull.headSha);
  const files = await diffFiles(repo, fork, pull.headSha);
  return paged(call, files, (file) => presentDiffFile(forge, repository, file, pull.headSha));
}

async function updateBranch(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const pull = pullOf(call);
  await updatePullBranch(forge, pull, actor, optionalText(fields, "expected_head_sha") ?? null);
  const url = repositoryUrl(forge, repository, "pulls", pull.number);
  return { status: 202, body: { message: "Updating pull request branch.", url } };
}
