import { presentOrganization, presentOwnProfile, presentProfile } from "../present/account.ts";
import { ApiError, notFound } from "../server/api-error.ts";
import { ok, route, type RestCall } from "../server/route.ts";
import { organizationOf } from "./repositories.ts";

export const userRoutes = [
  route("GET", "/", "anyone", readRoot),
  route("GET", "/user", "person", readSelf),
  route("GET", "/users/{username}", "anyone", readUser),
  route("GET", "/orgs/{org}", "anyone", readOrganization),
  route("GET", "/meta", "anyone", readMeta),
  route("GET", "/rate_limit", "anyone", readLimits),
];

/** GitHub's names and paths of its resources, including those that the forge does not serve. */
const ADDRESSES = {
  current_user_url: "/user",
  current_user_repositories_url: "/user/repos{?type,page,per_page,sort}",
  authorizations_url: "/authorizations",
  code_search_url: "/search/code?q={query}{&page,per_page,sort,order}",
  commit_search_url: "/search/commits?q={query}{&page,per_page,sort,order}",
  emails_url: "/user/emails",
  emojis_url: "/emojis",
  events_url: "/events",
  feeds_url: "/feeds",
  followers_url: "/user/followers",
  following_url: "/user/following{/target}",
  gists_url: "/gists{/gist_id}",
  issue_search_url: "/search/issues?q={query}{&page,per_page,sort,order}",
  issues_url: "/issues",
  keys_url: "/user/keys",
  label_search_url: "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}",
  notifications_url: "/notifications",
  organization_url: "/orgs/{org}",
  organization_repositories_url: "/orgs/{org}/repos{?type,page,per_page,sort}",
  organization_teams_url: "/orgs/{org}/teams",
  public_gists_url: "/gists/public",
  rate_limit_url: "/rate_limit",
  repository_url: "/repos/{owner}/{repo}",
  repository_search_url: "/search/repositories?q={query}{&page,per_page,sort,order}",
  starred_url: "/user/starred{/owner}{/repo}",
  starred_gists_url: "/gists/starred",
  user_url: "/users/{user}",
  user_organizations_url: "/user/orgs",
  user_repositories_url: "/users/{user}/repos{?type,page,per_page,sort}",
  user_search_url: "/search/users?q={query}{&page,per_page,sort,order}",
};

function readRoot({ forge }: RestCall) {
  const { api, root } = forge.urls;
  const addresses = Object.entries(ADDRESSES).map(([name, path]) => [name, `${api}${path}`]);
  const applications = `${root}/settings/connections/applications{/client_id}`;
  return ok({ ...Object.fromEntries(addresses), current_user_authorizations_html_url: applications });
}

function readSelf({ forge, caller }: RestCall) {
  if (caller.kind !== "person") throw new ApiError(403, "Resource not accessible by integration");
  return ok(presentOwnProfile(forge, caller.account));
}

function readUser({ forge, params }: RestCall) {
  const [account] = forge.state.accounts.inGroup((params["username"] ?? "").toLowerCase());
  if (account === undefined) throw notFound();
  return ok(presentProfile(forge, account));
}

function readOrganization(call: RestCall) {
  return ok(presentOrganization(call.forge, organizationOf(call)));
}

/** The addresses of webhooks and responses: this machine. */
function readMeta() {
  const here = ["127.0.0.1/32", "::1/128"];
  return ok({ verifiable_password_authentication: false, hooks: here, web: here, api: here, git: here });
}

function readLimits({ caller, limits }: RestCall) {
  const show = (resource: "core" | "graphql") => {
    const { limit, used, remaining, reset } = limits.read(caller, resource);
    return { limit, used, remaining, reset };
  };
  const core = show("core");
  const search = { limit: 30, used: 0, remaining: 30, reset: core.reset };
  return ok({ resources: { core, search, graphql: show("graphql") }, rate: core });
}
