import { type Commit, type Signature, needCommit } from "./commits.ts";
import type { GitRepository } from "./git.ts";
import { commitsBetween } from "./history.ts";

export type MergedTree =
  | { readonly tree: string }
  /** Paths git could not merge. */
  | { readonly conflicts: readonly string[] };

/** Merges two commits in the object store only: the tree git makes of them, or where they conflict. */
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
  // Exit 1 also stands for a commit that is not there; then there is no tree either.
  if (!/^[0-9a-f]{40}$/.test(tree))
    throw new Error(`git merge-tree said nothing about ${ours} and ${theirs}`);
  return code === 0 ? { tree } : { conflicts: [...new Set(conflicts)] };
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
}

/** Writes a commit object and answers its hash. */
export async function commitTree(repo: GitRepository, commit: NewCommit): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ["-p", parent]);
  return repo.text(["commit-tree", commit.tree, ...parents, "-F", "-"], {
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
}

/**
 * Replays what `head` has beyond `base` on top of `base`, as a rebase does: merge commits are left out, authors are kept.
 * git 2.39's merge-tree takes no merge base, so each step gives both sides the replayed commit's parent as their only
 * parent, which makes that the base.
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
    // A change the base already has disappears, as it does in git.
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
