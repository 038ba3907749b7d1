import { readCommit } from "./commits.ts";
import type { GitRepository } from "./git.ts";
import { readRef } from "./refs.ts";

/**
 * Resolves GitHub's `{ref}` (a tag, a branch, `heads/…` or a hash) to a commit; null if none. A tag
 * comes before a branch of the same name, as in Git (https://git-scm.com/docs/gitrevisions).
 */
export async function resolveCommit(repo: GitRepository, name: string): Promise<string | null> {
  const candidates = name.startsWith("refs/")
    ? [name]
    : [`refs/tags/${name}`, `refs/heads/${name}`, ...(name.includes("/") ? [`refs/${name}`] : [])];
  for (const candidate of candidates) {
    const sha = await readRef(repo, candidate);
    const commit = sha === null ? null : await readCommit(repo, sha);
    if (commit !== null) return commit.sha;
  }
  if (!/^[0-9a-f]{7,40}$/.test(name)) return null;
  return (await readCommit(repo, name))?.sha ?? null;
}
