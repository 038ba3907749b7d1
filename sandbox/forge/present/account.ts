import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { AccountRow } from "../rows.ts";

const accountNodeId = (account: AccountRow): string =>
  nodeId(NODE_PREFIXES.account[account.type], account.id);

/** A URL for browsers. */
export const htmlUrl = (forge: ForgeContext, ...parts: (string | number)[]): string =>
  [forge.urls.root, ...parts].join("/");

/** A user, organization or bot inside other objects. */
export function presentAccount(forge: ForgeContext, account: AccountRow) {
  const login = encodeURIComponent(account.login);
  const url = `${forge.urls.api}/users/${login}`;
  const page = account.type === "Bot" ? ["apps", account.login.replace(/\[bot\]$/, "")] : [account.login];
  return {
    login: account.login,
    id: account.id,
    node_id: accountNodeId(account),
    avatar_url: htmlUrl(forge, "avatars", "u", account.id),
    gravatar_id: "",
    url,
    html_url: htmlUrl(forge, ...page),
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: "public",
    site_admin: false,
  };
}

export const presentAccountById = (forge: ForgeContext, id: number) =>
  presentAccount(forge, forge.state.accounts.need(id));

export const presentAccountOrNull = (forge: ForgeContext, id: number | null) =>
  id === null ? null : presentAccountById(forge, id);

/** A user's public profile. */
export function presentProfile(forge: ForgeContext, account: AccountRow) {
  const repositories = forge.state.repositories.all().filter((each) => each.ownerId === account.id);
  return {
    ...presentAccount(forge, account),
    name: account.name,
    company: null,
    blog: "",
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: repositories.filter((each) => !each.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.createdAt,
    updated_at: account.createdAt,
  };
}

/** The response to `GET /user`. */
export function presentOwnProfile(forge: ForgeContext, account: AccountRow) {
  const repositories = forge.state.repositories
    .all()
    .filter((each) => each.ownerId === account.id && each.private);
  return {
    ...presentProfile(forge, account),
    private_gists: 0,
    total_private_repos: repositories.length,
    owned_private_repos: repositories.length,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: true,
  };
}

/** An organization in webhooks. */
export function presentOrganizationSimple(forge: ForgeContext, account: AccountRow) {
  const url = `${forge.urls.api}/orgs/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: accountNodeId(account),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: htmlUrl(forge, "avatars", "u", account.id),
    description: "",
  };
}

export function presentOrganization(forge: ForgeContext, account: AccountRow) {
  const repositories = forge.state.repositories.all().filter((each) => each.ownerId === account.id);
  return {
    ...presentOrganizationSimple(forge, account),
    name: account.name ?? account.login,
    is_verified: false,
    has_organization_projects: false,
    has_repository_projects: false,
    public_repos: repositories.filter((each) => !each.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    html_url: htmlUrl(forge, account.login),
    type: "Organization",
    created_at: account.createdAt,
    updated_at: account.createdAt,
    archived_at: null,
  };
}
