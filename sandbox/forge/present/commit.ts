import type { Commit, Signature } from "../git/commits.ts";
import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, namedNodeId } from "../node-id.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { presentAccount } from "./account.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

const verificationOf = ({ signature, committer }: Commit) => ({
  verified: signature !== null,
  reason: signature === null ? "unsigned" : "valid",
  signature,
  payload: null,
  verified_at: signature === null ? null : committer.date,
});

const commitNodeId = (repository: RepositoryRow, sha: string): string =>
  namedNodeId(NODE_PREFIXES.commit, repository.id, sha);

/** The account with the email address of a commit, or null. People also have `<login>@example.com`. */
export function accountOfEmail(forge: ForgeContext, email: string): AccountRow | null {
  const id = /^(\d+)\+/.exec(email)?.[1];
  const known = id === undefined ? undefined : forge.state.accounts.get(Number(id));
  if (known?.email === email) return known;
  const login = /^(.+)@example\.com$/i.exec(email)?.[1]?.toLowerCase();
  return (
    forge.state.accounts.find(
      (each) => each.email === email || (each.type === "User" && each.login.toLowerCase() === login),
    ) ?? null
  );
}

/** A commit in the commits, pull request and comparison endpoints. */
export function presentCommit(forge: ForgeContext, repository: RepositoryRow, commit: Commit) {
  const url = repositoryUrl(forge, repository);
  const account = (signature: Signature) => {
    const found = accountOfEmail(forge, signature.email);
    return found === null ? null : presentAccount(forge, found);
  };
  return {
    sha: commit.sha,
    node_id: commitNodeId(repository, commit.sha),
    commit: {
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      tree: { sha: commit.tree, url: `${url}/git/trees/${commit.tree}` },
      url: `${url}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: verificationOf(commit),
    },
    url: `${url}/commits/${commit.sha}`,
    html_url: repositoryHtmlUrl(forge, repository, "commit", commit.sha),
    comments_url: `${url}/commits/${commit.sha}/comments`,
    author: account(commit.author),
    committer: account(commit.committer),
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${url}/commits/${sha}`,
      html_url: repositoryHtmlUrl(forge, repository, "commit", sha),
    })),
  };
}

/** A commit in the Git database endpoints. */
export function presentGitCommit(forge: ForgeContext, repository: RepositoryRow, commit: Commit) {
  const url = repositoryUrl(forge, repository, "git");
  return {
    sha: commit.sha,
    node_id: commitNodeId(repository, commit.sha),
    url: `${url}/commits/${commit.sha}`,
    html_url: repositoryHtmlUrl(forge, repository, "commit", commit.sha),
    author: commit.author,
    committer: commit.committer,
    tree: { sha: commit.tree, url: `${url}/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${url}/commits/${sha}`,
      html_url: repositoryHtmlUrl(forge, repository, "commit", sha),
    })),
    verification: verificationOf(commit),
  };
}

/** A commit in a `push` webhook, with the changed paths. */
export function presentPushedCommit(
  forge: ForgeContext,
  repository: RepositoryRow,
  commit: Commit,
  paths: {
    added: readonly string[];
    removed: readonly string[];
    modified: readonly string[];
    distinct: boolean;
  },
) {
  const person = ({ name, email, date }: Signature) => {
    const account = accountOfEmail(forge, email);
    return { name, email, date, ...(account === null ? {} : { username: account.login }) };
  };
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: paths.distinct,
    message: commit.message,
    timestamp: commit.committer.date,
    url: repositoryHtmlUrl(forge, repository, "commit", commit.sha),
    author: person(commit.author),
    committer: person(commit.committer),
    added: paths.added,
    removed: paths.removed,
    modified: paths.modified,
  };
}

/** A commit inside a check suite. */
export const presentSimpleCommit = (commit: Commit) => ({
  id: commit.sha,
  tree_id: commit.tree,
  message: commit.message,
  timestamp: commit.committer.date,
  author: { name: commit.author.name, email: commit.author.email },
  committer: { name: commit.committer.name, email: commit.committer.email },
});
