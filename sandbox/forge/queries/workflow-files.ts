import { readCommit } from "../git/commits.ts";
import type { GitRepository } from "../git/git.ts";
import { listRefs } from "../git/refs.ts";
import { listTree } from "../git/tree.ts";
import { ApiError, notFound } from "../server/api-error.ts";
import { permits } from "../server/access.ts";
import type { Caller } from "../server/caller.ts";

const FOLDER = ".github/workflows";

/** Whether the caller may add and change workflow files. The App needs the permission. */
export const mayChangeWorkflows = (caller: Caller): boolean =>
  caller.kind !== "installation" || permits(caller.permissions, "workflows:write");

/**
 * The path of a workflow file at a commit that is not the same on any branch; null if there is none.
 * A file that a branch has with the same path and content may be committed without the permission
 * (https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps, `workflow`).
 */
export async function newWorkflow(repo: GitRepository, sha: string): Promise<string | null> {
  const files = await workflowsAt(repo, sha);
  if (files.size === 0) return null;
  const branches = await listRefs(repo, "refs/heads/");
  const known = new Set<string>();
  for (const tip of new Set(branches.map((branch) => branch.sha)))
    for (const file of (await workflowsAt(repo, tip)).values()) known.add(file);
  return [...files].find(([, file]) => !known.has(file))?.[0] ?? null;
}

/**
 * Throws if a merge adds or changes a workflow file. GitHub names the file
 * (https://github.com/KeisukeYamashita/auto-pull-request-merge/issues/481).
 */
export async function assertNoChangedWorkflow(
  repo: GitRepository,
  before: string,
  after: string,
): Promise<void> {
  const [old, now] = await Promise.all([workflowsAt(repo, before), workflowsAt(repo, after)]);
  const known = new Set(old.values());
  const [path] = [...now].find(([, file]) => !known.has(file)) ?? [];
  if (path !== undefined) throw new ApiError(403, refusedForWorkflow(path));
}

/** The workflow files of a commit: path → path and content. */
async function workflowsAt(repo: GitRepository, sha: string): Promise<ReadonlyMap<string, string>> {
  const commit = await readCommit(repo, sha);
  const folder = commit && (await repo.objects.read(`${commit.sha}:${FOLDER}`));
  if (folder?.type !== "tree") return new Map();
  const items = await listTree(repo, folder.sha, false);
  const files = items.filter(({ type }) => type === "blob");
  return new Map(files.map(({ path, sha: blob }) => [`${FOLDER}/${path}`, `${path} ${blob}`]));
}

/**
 * GitHub hides a ref or release whose workflow files the App may not change
 * (https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps, `Workflows`).
 */
export const hiddenForWorkflow = (): ApiError => {
  const headers = { "x-accepted-github-permissions": "contents=write,workflows=write" };
  return new ApiError(404, notFound().message, { headers });
};

export const refusedForWorkflow = (path: string): string =>
  `refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`;
