import type { Commit } from "../git/commits.ts";
import type { DiffFile } from "../git/diff.ts";
import type { ForgeContext } from "../context.ts";
import type { RepositoryRow } from "../rows.ts";
import { presentCommit } from "./commit.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

/** Percent-encodes each part of a path. */
export const encodePath = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** A changed file of a commit, comparison or pull request, with URLs of its version at `at`. */
export function presentDiffFile(forge: ForgeContext, repository: RepositoryRow, file: DiffFile, at: string) {
  const path = encodePath(file.path);
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: repositoryHtmlUrl(forge, repository, "blob", at, path),
    raw_url: repositoryHtmlUrl(forge, repository, "raw", at, path),
    contents_url: `${repositoryUrl(forge, repository, "contents", path)}?ref=${at}`,
    ...(file.patch === null ? {} : { patch: file.patch }),
    ...(file.previousPath === null ? {} : { previous_filename: file.previousPath }),
  };
}

interface Comparison {
  readonly base: Commit;
  readonly head: Commit;
  readonly mergeBase: Commit;
  readonly aheadBy: number;
  readonly behindBy: number;
  /** Oldest first. */
  readonly commits: readonly Commit[];
  readonly files: readonly DiffFile[] | null;
}

/** GitHub's limits. */
const MAX_COMMITS = 250;
const MAX_FILES = 300;

export function presentComparison(
  forge: ForgeContext,
  repository: RepositoryRow,
  name: string,
  comparison: Comparison,
) {
  const { aheadBy, behindBy, base, head, mergeBase, commits, files } = comparison;
  const html = repositoryHtmlUrl(forge, repository, "compare", encodePath(name));
  const permanent = `${base.sha.slice(0, 12)}...${head.sha.slice(0, 12)}`;
  return {
    url: repositoryUrl(forge, repository, "compare", name),
    html_url: html,
    permalink_url: repositoryHtmlUrl(forge, repository, "compare", permanent),
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    base_commit: presentCommit(forge, repository, base),
    merge_base_commit: presentCommit(forge, repository, mergeBase),
    status: aheadBy > 0 ? (behindBy > 0 ? "diverged" : "ahead") : behindBy > 0 ? "behind" : "identical",
    ahead_by: aheadBy,
    behind_by: behindBy,
    total_commits: aheadBy,
    commits: commits.slice(0, MAX_COMMITS).map((commit) => presentCommit(forge, repository, commit)),
    ...(files === null
      ? {}
      : {
          files: files.slice(0, MAX_FILES).map((file) => presentDiffFile(forge, repository, file, head.sha)),
        }),
  };
}
