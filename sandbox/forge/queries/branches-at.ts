import type { ForgeContext } from "../context.ts";
import { branchNameOf, listRefs } from "../git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";

interface BranchTip {
  readonly name: string;
  readonly sha: string;
}

/** The branches whose tip is the commit, or that contain it. */
export async function branchesAt(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
  how: "tip" | "containing",
): Promise<BranchTip[]> {
  const repo = forge.git.repository(repository.id);
  if (how === "tip") {
    const refs = await listRefs(repo, "refs/heads/");
    return refs.filter((each) => each.sha === sha).map(shorten);
  }
  const text = await repo.text([
    "for-each-ref",
    `--contains=${sha}`,
    "--format=%(objectname) %(refname)",
    "--",
    "refs/heads/",
  ]);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => shorten({ sha: line.slice(0, 40), name: line.slice(41) }));
}

const shorten = ({ name, sha }: BranchTip): BranchTip => ({ name: branchNameOf(name), sha });

/** Open pull requests whose head is the commit. */
export const pullRequestsAt = (
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
): PullRequestRow[] =>
  forge.state.pullRequests
    .inGroup(repository.id)
    .filter((each) => each.headSha === sha && each.state === "open");
