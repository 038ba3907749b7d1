import { latestStatuses } from "../../queries/commit-outcomes.ts";
import { pullRequestsOfCommit } from "../../queries/pull-requests-of-commit.ts";
import { authorsOf, bodyOf, needCommit, subjectOf, type Commit, type Signature } from "../../git/commits.ts";
import { log } from "../../git/history.ts";
import type { GitObject } from "../../git/objects.ts";
import { namedNodeId, NODE_PREFIXES } from "../../node-id.ts";
import { accountOfEmail } from "../../present/commit.ts";
import type { RepositoryRow } from "../../rows.ts";
import { commitKey } from "../../state.ts";
import { assertMayRead } from "../permission.ts";
import { connection, type PageArgs } from "../connection.ts";
import { repositoryPath, type GraphqlObject, type Scope } from "../scope.ts";

/** The Git object with this hash; null if there is none. */
export async function gitObject(
  scope: Scope,
  repository: RepositoryRow,
  sha: string,
): Promise<GraphqlObject | null> {
  const object = await scope.forge.git.repository(repository.id).objects.read(sha);
  if (object === null) return null;
  if (object.type === "commit") return commitObject(scope, repository, object.sha);
  const common = gitObjectFields(scope, repository, object.sha);
  if (object.type === "tree")
    return { __typename: "Tree", ...common, entries: () => treeEntries(scope, repository, object) };
  return object.type === "blob" ? blobObject(common, object) : tagObject(scope, repository, common, object);
}

export async function commitObject(
  scope: Scope,
  repository: RepositoryRow,
  sha: string,
): Promise<GraphqlObject> {
  const git = scope.forge.git.repository(repository.id);
  const commit = await needCommit(git, sha);
  return {
    __typename: "Commit",
    ...gitObjectFields(scope, repository, commit.sha),
    url: `${scope.forge.urls.root}${repositoryPath(scope, repository)}/commit/${commit.sha}`,
    ...messageFields(commit),
    author: signature(scope, commit.author),
    authors: (args: PageArgs) =>
      connection("authors", authorsOf(commit), args, (author) => signature(scope, author)),
    authoredDate: commit.author.date,
    committer: signature(scope, commit.committer),
    committedDate: commit.committer.date,
    tree: () => gitObject(scope, repository, commit.tree),
    parents: (args: PageArgs) =>
      connection("parents", commit.parents, args, (parent) => scope.commit(repository, parent)),
    history: (args: HistoryArgs) => history(scope, repository, commit.sha, args),
    status: () => commitStatus(scope, repository, commit.sha),
    statusCheckRollup: () => scope.rollup(repository, commit.sha),
    checkSuites: (args: PageArgs) => {
      assertMayRead(scope.caller, repository, "checks:read");
      const suites = scope.forge.state.checkSuites.inGroup(commitKey(repository.id, commit.sha));
      return connection("checkSuites", suites, args, (suite) => scope.checkSuite(suite));
    },
    associatedPullRequests: async (args: PageArgs) => {
      const found = await pullRequestsOfCommit(scope.forge, repository, commit.sha);
      return connection("associatedPullRequests", found, args, (row) => scope.pullRequest(row));
    },
  };
}

const messageFields = ({ message }: Commit) => ({
  message,
  messageHeadline: subjectOf(message),
  messageBody: bodyOf(message),
});

function gitObjectFields(scope: Scope, repository: RepositoryRow, sha: string) {
  const commitResourcePath = `${repositoryPath(scope, repository)}/commit/${sha}`;
  return {
    id: namedNodeId(NODE_PREFIXES.commit, repository.id, sha),
    oid: sha,
    abbreviatedOid: sha.slice(0, 7),
    commitResourcePath,
    commitUrl: `${scope.forge.urls.root}${commitResourcePath}`,
    repository: () => scope.repository(repository),
  };
}

function signature(scope: Scope, { name, email, date }: Signature): GraphqlObject {
  const account = accountOfEmail(scope.forge, email);
  return {
    __typename: "GitActor",
    name,
    email,
    date,
    avatarUrl: `${scope.forge.urls.root}/avatars/u/${account?.id ?? 0}`,
    user: account !== null && account.type === "User" ? () => scope.accountOf(account) : null,
  };
}

interface HistoryArgs extends PageArgs {
  readonly path?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Pages reach the newest 1,000 commits; `totalCount` counts all commits. */
async function history(
  scope: Scope,
  repository: RepositoryRow,
  sha: string,
  args: HistoryArgs,
): Promise<object> {
  const git = scope.forge.git.repository(repository.id);
  const { path, since, until } = args;
  const commits = await log(git, sha, { skip: 0, count: 1_000, path, since, until });
  const isComplete = commits.length < 1_000;
  const total = isComplete ? commits.length : Number(await git.text(["rev-list", "--count", sha, "--"]));
  return {
    ...connection("history", commits, args, (commit) => scope.commit(repository, commit.sha)),
    totalCount: total,
  };
}

function commitStatus(scope: Scope, repository: RepositoryRow, sha: string): GraphqlObject | null {
  const latest = latestStatuses(scope.forge, repository.id, sha);
  if (latest.length === 0) return null;
  const states = latest.map((row) => row.state);
  const worst = (["error", "failure", "pending", "success"] as const).find((state) => states.includes(state));
  return {
    __typename: "Status",
    id: namedNodeId(NODE_PREFIXES.combinedStatus, repository.id, sha),
    commit: () => scope.commit(repository, sha),
    state: (worst ?? "pending").toUpperCase(),
    contexts: () => latest.map((row) => scope.statusContext(row)),
  };
}

/** The entries of a tree object: mode, name, and the hash in 20 bytes. */
function treeEntries(scope: Scope, repository: RepositoryRow, { content }: GitObject): object[] {
  const entries: object[] = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const zero = content.indexOf(0, space);
    const mode = content.toString("utf8", at, space);
    const name = content.toString("utf8", space + 1, zero);
    const oid = content.toString("hex", zero + 1, zero + 21);
    const type = mode === "40000" ? "tree" : mode === "160000" ? "commit" : "blob";
    entries.push({
      __typename: "TreeEntry",
      mode: Number.parseInt(mode, 8),
      name,
      path: name,
      type,
      oid,
      object: () => (type === "commit" ? null : gitObject(scope, repository, oid)),
    });
    at = zero + 21;
  }
  return entries;
}

function blobObject(common: object, { content }: GitObject): GraphqlObject {
  const isBinary = content.includes(0);
  return {
    __typename: "Blob",
    ...common,
    byteSize: content.length,
    isBinary,
    isTruncated: false,
    text: isBinary ? null : content.toString("utf8"),
  };
}

function tagObject(
  scope: Scope,
  repository: RepositoryRow,
  common: object,
  { content }: GitObject,
): GraphqlObject {
  const text = content.toString("utf8");
  const field = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "";
  const tagger = /^(.*?) <([^>]*)> (\d+)/.exec(field("tagger"));
  const date = new Date(Number(tagger?.[3] ?? 0) * 1000).toISOString();
  return {
    __typename: "Tag",
    ...common,
    name: field("tag"),
    message: text.slice(text.indexOf("\n\n") + 2),
    tagger:
      tagger === null ? null : signature(scope, { name: tagger[1] ?? "", email: tagger[2] ?? "", date }),
    target: () => gitObject(scope, repository, field("object")),
  };
}
