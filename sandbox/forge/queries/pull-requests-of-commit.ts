import type { ForgeContext } from "../context.ts";
import { commitsBetween } from "../git/history.ts";
import { cached } from "../git/git.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";

const commitShas = cached(
  async (repo, base, tip) => new Set((await commitsBetween(repo, base, tip)).map(({ sha }) => sha)),
);

/** Pull requests whose head or merge commit is the commit, or whose merge added it to the base. */
export async function pullRequestsOfCommit(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
): Promise<PullRequestRow[]> {
  const repo = forge.git.repository(repository.id);
  const found: PullRequestRow[] = [];
  for (const row of forge.state.pullRequests.inGroup(repository.id)) {
    const merge = row.mergedAt === null ? null : row.mergeCommitSha;
    const isTip = row.headSha === sha || merge === sha;
    if (isTip || (merge !== null && (await commitShas(repo, row.baseSha, merge)).has(sha))) found.push(row);
  }
  return found;
}
