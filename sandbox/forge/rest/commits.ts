import { needCommit } from "../git/commits.ts";
import { diffFiles } from "../git/diff.ts";
import { aheadBehind, commitsBetween, log, mergeBase } from "../git/history.ts";
import { resolveCommit } from "../git/resolve.ts";
import { presentCommit } from "../present/commit.ts";
import { presentComparison, presentDiffFile } from "../present/comparison.ts";
import { presentSimplePullRequest } from "../present/pull-request.ts";
import type { PullRequestRow } from "../rows.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { linkHeaders, paged, pageOf } from "../server/paging.ts";
import { ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

export const commitRoutes = [
  repositoryRoute("GET", "/commits", "contents:read", listCommits),
  repositoryRoute("GET", "/commits/{commit_sha}/pulls", ["pull_requests:read", "contents:read"], listPulls),
  repositoryRoute("GET", "/compare/{basehead}", "contents:read", compare),
];

/** Must come after all other routes below `/commits`, because a ref may contain slashes. */
export const oneCommitRoute = repositoryRoute("GET", "/commits/{ref}", "contents:read", readOne);

/** Resolves a `{ref}` to a commit. Throws GitHub's refusal if there is none. */
export async function commitOf({ forge, repository }: RepositoryCall, name: string): Promise<string> {
  const sha = await resolveCommit(forge.git.repository(repository.id), name);
  if (sha === null) throw unprocessable(`No commit found for SHA: ${name}`);
  return sha;
}

async function listCommits(call: RepositoryCall) {
  const { forge, repository, query } = call;
  const repo = forge.git.repository(repository.id);
  const name = query.get("sha") ?? repository.defaultBranch;
  const from = await resolveCommit(repo, name);
  if (from === null) {
    if (query.has("sha")) throw notFound();
    throw new ApiError(409, "Git Repository is empty.");
  }
  const page = pageOf(query);
  const filters = Object.fromEntries(
    ["path", "author", "since", "until"].map((name) => [name, query.get(name) ?? undefined]),
  );
  // One commit beyond the page shows whether there is a next page.
  const found = await log(repo, from, { skip: page.skip, count: page.size + 1, ...filters });
  const body = found.slice(0, page.size).map((commit) => presentCommit(forge, repository, commit));
  return ok(body, linkHeaders(call, page, found.length > page.size ? page.number + 1 : page.number));
}

async function readOne(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const repo = forge.git.repository(repository.id);
  const commit = await needCommit(repo, await commitOf(call, params["ref"] ?? ""));
  const files = await diffFiles(repo, commit.parents[0] ?? null, commit.sha);
  const sum = (field: "additions" | "deletions") => files.reduce((total, file) => total + file[field], 0);
  return ok({
    ...presentCommit(forge, repository, commit),
    stats: {
      total: sum("additions") + sum("deletions"),
      additions: sum("additions"),
      deletions: sum("deletions"),
    },
    files: files.map((file) => presentDiffFile(forge, repository, file, commit.sha)),
  });
}

/**
 * The pull requests that merged the commit into the default branch, or all that contain it if none
 * did.
 */
async function listPulls(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const repo = forge.git.repository(repository.id);
  const sha = await commitOf(call, params["commit_sha"] ?? "");
  const pulls = forge.state.pullRequests
    .inGroup(repository.id)
    .filter((each) => each.mergedAt !== null || each.state === "open");
  const containing: PullRequestRow[] = [];
  for (const pull of pulls) {
    const isIn =
      pull.mergeCommitSha === sha ||
      pull.headSha === sha ||
      (await commitsBetween(repo, pull.baseSha, pull.headSha)).some((each) => each.sha === sha);
    if (isIn) containing.push(pull);
  }
  const merged = containing.filter(
    (each) => each.mergedAt !== null && each.baseRef === repository.defaultBranch,
  );
  const shown = merged.length > 0 ? merged : containing;
  return paged(call, shown, (pull) => presentSimplePullRequest(forge, repository, pull));
}

async function compare(call: RepositoryCall) {
  const { forge, repository, params, query } = call;
  const name = params["basehead"] ?? "";
  const [base = "", head] = name.split("...").map((part) => part.replace(/^[^:]+:/, ""));
  if (head === undefined || head === "") throw notFound();
  const repo = forge.git.repository(repository.id);
  const [baseSha, headSha] = await Promise.all([resolveCommit(repo, base), resolveCommit(repo, head)]);
  if (baseSha === null || headSha === null) throw notFound();
  const fork = await mergeBase(repo, baseSha, headSha);
  if (fork === null) throw new ApiError(404, `No common ancestor between ${base} and ${head}.`);
  const page = pageOf(query);
  const [counts, commits, files] = await Promise.all([
    aheadBehind(repo, baseSha, headSha),
    commitsBetween(repo, baseSha, headSha),
    page.number === 1 ? diffFiles(repo, fork, headSha) : null,
  ]);
  const isPaged = query.has("page") || query.has("per_page");
  const comparison = {
    base: await needCommit(repo, baseSha),
    head: await needCommit(repo, headSha),
    mergeBase: await needCommit(repo, fork),
    ...counts,
    commits: isPaged ? commits.slice(page.skip, page.skip + page.size) : commits,
    files,
  };
  return ok(presentComparison(forge, repository, name, comparison));
}
