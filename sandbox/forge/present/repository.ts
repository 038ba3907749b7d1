import { roleIn, type Role } from "../server/access.ts";
import type { Caller } from "../server/caller.ts";
import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { RepositoryRow } from "../rows.ts";
import { htmlUrl, presentAccountById } from "./account.ts";

export const repositoryNodeId = (repository: RepositoryRow): string =>
  nodeId(NODE_PREFIXES.repository, repository.id);

export const fullNameOf = (forge: ForgeContext, repository: RepositoryRow): string =>
  `${forge.state.accounts.need(repository.ownerId).login}/${repository.name}`;

/** The API URL of a repository or of a path below it. */
export const repositoryUrl = (
  forge: ForgeContext,
  repository: RepositoryRow,
  ...rest: (string | number)[]
): string => [forge.urls.api, "repos", fullNameOf(forge, repository), ...rest].join("/");

/** The browser URL of a repository or of a path below it. */
export const repositoryHtmlUrl = (
  forge: ForgeContext,
  repository: RepositoryRow,
  ...rest: (string | number)[]
): string => htmlUrl(forge, fullNameOf(forge, repository), ...rest);

/** URL templates below the repository's URL, by field. */
const ADDRESSES = {
  archive_url: "/{archive_format}{/ref}",
  assignees_url: "/assignees{/user}",
  blobs_url: "/git/blobs{/sha}",
  branches_url: "/branches{/branch}",
  collaborators_url: "/collaborators{/collaborator}",
  comments_url: "/comments{/number}",
  commits_url: "/commits{/sha}",
  compare_url: "/compare/{base}...{head}",
  contents_url: "/contents/{+path}",
  contributors_url: "/contributors",
  deployments_url: "/deployments",
  downloads_url: "/downloads",
  events_url: "/events",
  forks_url: "/forks",
  git_commits_url: "/git/commits{/sha}",
  git_refs_url: "/git/refs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  hooks_url: "/hooks",
  issue_comment_url: "/issues/comments{/number}",
  issue_events_url: "/issues/events{/number}",
  issues_url: "/issues{/number}",
  keys_url: "/keys{/key_id}",
  labels_url: "/labels{/name}",
  languages_url: "/languages",
  merges_url: "/merges",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  pulls_url: "/pulls{/number}",
  releases_url: "/releases{/id}",
  stargazers_url: "/stargazers",
  statuses_url: "/statuses/{sha}",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  tags_url: "/tags",
  teams_url: "/teams",
  trees_url: "/git/trees{/sha}",
} as const;

/** A repository inside other objects. */
export function presentMinimalRepository(forge: ForgeContext, repository: RepositoryRow) {
  const url = repositoryUrl(forge, repository);
  const addresses = Object.entries(ADDRESSES).map(([name, rest]) => [name, `${url}${rest}`]);
  return {
    id: repository.id,
    node_id: repositoryNodeId(repository),
    name: repository.name,
    full_name: fullNameOf(forge, repository),
    private: repository.private,
    owner: presentAccountById(forge, repository.ownerId),
    html_url: repositoryHtmlUrl(forge, repository),
    description: repository.description,
    fork: false,
    url,
    ...(Object.fromEntries(addresses) as Record<keyof typeof ADDRESSES, string>),
  };
}

/** A repository in lists and webhooks. */
export function presentRepository(forge: ForgeContext, repository: RepositoryRow) {
  const html = repositoryHtmlUrl(forge, repository);
  const open = forge.state.pullRequests.inGroup(repository.id).filter((each) => each.state === "open").length;
  return {
    ...presentMinimalRepository(forge, repository),
    git_url: `${html.replace(/^https?:/, "git:")}.git`,
    ssh_url: `git@${new URL(html).hostname}:${fullNameOf(forge, repository)}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    mirror_url: null,
    homepage: null,
    language: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    watchers: 0,
    forks_count: 0,
    forks: 0,
    open_issues_count: open,
    open_issues: open,
    license: null,
    topics: [],
    is_template: false,
    has_issues: repository.hasIssues,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    archived: repository.archived,
    disabled: false,
    visibility: repository.private ? "private" : "public",
    allow_forking: true,
    web_commit_signoff_required: false,
    default_branch: repository.defaultBranch,
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
    pushed_at: repository.pushedAt,
  };
}

const MERGE_MESSAGES = {
  use_squash_pr_title_as_default: false,
  squash_merge_commit_title: "COMMIT_OR_PR_TITLE",
  squash_merge_commit_message: "COMMIT_MESSAGES",
  merge_commit_title: "MERGE_MESSAGE",
  merge_commit_message: "PR_TITLE",
} as const;

const mergeSettings = (repository: RepositoryRow) => ({
  allow_merge_commit: repository.allowMergeCommit,
  allow_squash_merge: repository.allowSquashMerge,
  allow_rebase_merge: repository.allowRebaseMerge,
  allow_auto_merge: repository.allowAutoMerge,
  allow_update_branch: repository.allowUpdateBranch,
  delete_branch_on_merge: repository.deleteBranchOnMerge,
});

export function permissionsOf(role: Role | "none") {
  const isWriter = role === "write" || role === "admin";
  return {
    admin: role === "admin",
    maintain: role === "admin",
    push: isWriter,
    triage: isWriter,
    pull: role !== "none",
  };
}

/** A repository with the caller's permissions. */
export function presentRepositoryFor(forge: ForgeContext, repository: RepositoryRow, caller: Caller) {
  const permissions = permissionsOf(roleIn(forge, caller, repository));
  return { ...presentRepository(forge, repository), permissions };
}

/** The response to `GET /repos/{owner}/{repo}`. */
export function presentFullRepository(forge: ForgeContext, repository: RepositoryRow, caller: Caller) {
  const owner = forge.state.accounts.need(repository.ownerId);
  return {
    ...presentRepositoryFor(forge, repository, caller),
    ...mergeSettings(repository),
    ...MERGE_MESSAGES,
    temp_clone_token: null,
    subscribers_count: 0,
    network_count: 0,
    ...(owner.type === "Organization" ? { organization: presentAccountById(forge, owner.id) } : {}),
  };
}

/** The repository of a pull request's head or base, with its merge settings. */
export const presentBranchRepository = (forge: ForgeContext, repository: RepositoryRow) => ({
  ...presentRepository(forge, repository),
  ...mergeSettings(repository),
  ...MERGE_MESSAGES,
});

const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);

/** The repository in a `push` webhook. Its times are Unix times. */
export function presentPushRepository(forge: ForgeContext, repository: RepositoryRow) {
  const owner = forge.state.accounts.need(repository.ownerId);
  return {
    ...presentRepository(forge, repository),
    owner: { ...presentAccountById(forge, owner.id), name: owner.login, email: null },
    // The browser URL, as in GitHub's pushes.
    url: repositoryHtmlUrl(forge, repository),
    created_at: seconds(repository.createdAt),
    pushed_at: seconds(repository.pushedAt),
    stargazers: 0,
    master_branch: repository.defaultBranch,
    ...(owner.type === "Organization" ? { organization: owner.login } : {}),
  };
}
