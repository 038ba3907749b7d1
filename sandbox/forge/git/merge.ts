import { type Commit, type Signature, needCommit } from "./commits.ts";
import type { GitRepository } from "./git.ts";
import { commitsBetween } from "./history.ts";
import { signCommit } from "./signatures.ts";

export type MergedTree =
  | { readonly tree: string }
  /** The conflicting paths. */
  | { readonly conflicts: readonly string[] };

/** Merges two commits in the object store; returns the merged tree or the conflicts. */
export async function mergeTree(repo: GitRepository, ours: string, theirs: string): Promise<MergedTree> {
  const { code, stdout } = await repo.run(
    [
      "merge-tree",
      "--write-tree",
      "--name-only",
      "--no-messages",
      "--allow-unrelated-histories",
      "-z",
      ours,
      theirs,
    ],
    { codes: [1] },
  );
  const [tree = "", ...conflicts] = stdout
    .toString("utf8")
    .split("\0")
    .filter((part) => part !== "");
  // Exit code 1 also means a missing commit; git then prints no tree.
  if (!/^[0-9a-f]{40}$/.test(tree))
    throw new Error(`git merge-tree printed no tree for ${ours} and ${theirs}`);
  return code === 0 ? { tree } : { conflicts: [...new Set(conflicts)] };
}

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
  /** Whether the forge signs it, as GitHub does with the commits that it makes itself. */
  readonly isSigned?: boolean;
}

/** Writes a commit object and returns its hash. */
export async function commitTree(repo: GitRepository, commit: NewCommit): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ["-p", parent]);
  const sha = await repo.text(["commit-tree", commit.tree, ...parents, "-F", "-"], {
    input: commit.message.endsWith("\n") ? commit.message : `${commit.message}\n`,
    env: {
      GIT_AUTHOR_NAME: commit.author.name,
      GIT_AUTHOR_EMAIL: commit.author.email,
      GIT_AUTHOR_DATE: commit.author.date,
      GIT_COMMITTER_NAME: commit.committer.name,
      GIT_COMMITTER_EMAIL: commit.committer.email,
      GIT_COMMITTER_DATE: commit.committer.date,
    },
  });
  return commit.isSigned === true ? signCommit(repo, sha) : sha;
}

/**
 * Rebases the commits of `head` that are not in `base` onto `base`: skips merge commits, keeps
 * authors. The merge-tree of git 2.39 takes no merge base, so at each step both sides get the
 * replayed commit's parent as their only parent, which makes it the merge base.
 */
export async function rebase(
  repo: GitRepository,
  base: string,
  head: string,
  committer: Signature,
): Promise<{ readonly sha: string } | { readonly conflicts: readonly string[] }> {
  let tip = await needCommit(repo, base);
  for (const commit of await commitsBetween(repo, base, head)) {
    if (commit.parents.length > 1) continue;
    const picked = await pickTree(repo, tip, commit, committer);
    if ("conflicts" in picked) return picked;
    // Like git, drops a change that the base already contains.
    if (picked.tree === tip.tree && commit.tree !== (await parentTree(repo, commit))) continue;
    const sha = await commitTree(repo, { ...commit, tree: picked.tree, parents: [tip.sha], committer });
    tip = await needCommit(repo, sha);
  }
  return { sha: tip.sha };
}

async function pickTree(
  repo: GitRepository,
  onto: Commit,
  picked: Commit,
  committer: Signature,
): Promise<MergedTree> {
  const [parent] = picked.parents;
  if (parent === undefined) return mergeTree(repo, onto.sha, picked.sha);
  if (parent === onto.sha) return { tree: picked.tree };
  const sibling = await commitTree(repo, {
    tree: onto.tree,
    parents: [parent],
    message: "replay",
    author: committer,
    committer,
  });
  return mergeTree(repo, sibling, picked.sha);
}

async function parentTree(repo: GitRepository, commit: Commit): Promise<string | null> {
  const [parent] = commit.parents;
  return parent === undefined ? null : (await needCommit(repo, parent)).tree;
}
