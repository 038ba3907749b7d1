import type { ForgeContext } from "../context.ts";
import { commitsBetween } from "../git/history.ts";
import { cached } from "../git/git.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";

const introduced = cached(
  async (repo, base, tip) => new Set((await commitsBetween(repo, base, tip)).map(({ sha }) => sha)),
);

/** Merged pull requests that brought a commit to their base, each commit of a rebase included, and open ones whose head it is. */
export async function pullRequestsOfCommit(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
): Promise<PullRequestRow[]> {
  const repo = forge.git.repository(repository.id);
  const found: PullRequestRow[] = [];
  for (const row of forge.state.pullRequests.in(repository.id)) {
    const merge = row.mergedAt === null ? null : row.mergeCommitSha;
    const isIts = row.headSha === sha || merge === sha;
    if (isIts || (merge !== null && (await introduced(repo, row.baseSha, merge)).has(sha))) found.push(row);
  }
  return found;
}
