import { changeRepository, deleteRepository, makeRepository } from "../actions/change-repository.ts";
import { presentInstallation } from "../present/installation.ts";
import { presentOwnProfile } from "../present/account.ts";
import { permissionsOf, presentFullRepository, presentRepositoryFor } from "../present/repository.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { findRepository, installationOf, roleIn, roleOfPerson } from "../server/access.ts";
import { ApiError, notFound } from "../server/api-error.ts";
import { optionalFlag, optionalText, requiredText } from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import {
  created,
  noContent,
  ok,
  repositoryRoute,
  route,
  type RepositoryCall,
  type RestCall,
} from "../server/route.ts";

export const repositoryRoutes = [
  route("GET", "/repos/{owner}/{repo}/installation", "app", readInstallation),
  repositoryRoute("GET", "/collaborators/{username}/permission", "metadata:read", readPermission),
  repositoryRoute("GET", "", "metadata:read", readOne),
  repositoryRoute("PATCH", "", "administration:write", change, { isAdmin: true, isAllowedOnArchived: true }),
  repositoryRoute("DELETE", "", "administration:write", remove, { isAdmin: true, isAllowedOnArchived: true }),
  route("GET", "/orgs/{org}/repos", "anyone", listOfOrganization),
  route("POST", "/orgs/{org}/repos", "person", createInOrganization),
  route("GET", "/user/repos", "person", listOwn),
  route("POST", "/user/repos", "person", createOwn),
];

function readInstallation({ forge, params }: RestCall) {
  const { owner = "", repo = "" } = params;
  const found = findRepository(forge, owner, repo);
  const repository = found === null ? null : "movedTo" in found ? found.movedTo : found.repository;
  const installation = repository === null ? undefined : installationOf(forge, repository);
  if (installation === undefined) throw notFound();
  return ok(presentInstallation(forge, installation));
}

function readPermission({ forge, repository, params }: RepositoryCall) {
  const [account] = forge.state.accounts.inGroup((params["username"] ?? "").toLowerCase());
  if (account === undefined) throw notFound();
  const role = roleOfPerson(forge, account, repository) ?? (repository.private ? "none" : "read");
  const permissions = permissionsOf(role);
  const user = { ...presentOwnProfile(forge, account), permissions, role_name: role };
  return ok({ permission: role, role_name: role, user });
}

function readOne({ forge, repository, caller }: RepositoryCall) {
  return ok(presentFullRepository(forge, repository, caller));
}

async function change({ forge, repository, caller, fields, actor }: RepositoryCall) {
  const visibility = optionalText(fields, "visibility");
  const given = {
    name: optionalText(fields, "name"),
    description: optionalText(fields, "description"),
    private: visibility === undefined ? optionalFlag(fields, "private") : visibility !== "public",
    defaultBranch: optionalText(fields, "default_branch"),
    archived: optionalFlag(fields, "archived"),
    hasIssues: optionalFlag(fields, "has_issues"),
    allowMergeCommit: optionalFlag(fields, "allow_merge_commit"),
    allowSquashMerge: optionalFlag(fields, "allow_squash_merge"),
    allowRebaseMerge: optionalFlag(fields, "allow_rebase_merge"),
    allowAutoMerge: optionalFlag(fields, "allow_auto_merge"),
    allowUpdateBranch: optionalFlag(fields, "allow_update_branch"),
    deleteBranchOnMerge: optionalFlag(fields, "delete_branch_on_merge"),
  };
  if (repository.archived && given.archived !== false)
    throw new ApiError(403, "Repository was archived so is read-only.");
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const row = await changeRepository(forge, repository.id, actor, changes);
  return ok(presentFullRepository(forge, row, caller));
}

async function remove({ forge, repository, actor }: RepositoryCall) {
  await deleteRepository(forge, repository, actor);
  return noContent;
}

function listed(call: RestCall, chosen: readonly RepositoryRow[]) {
  const { forge, caller } = call;
  return paged(call, chosen, (repository) => presentRepositoryFor(forge, repository, caller));
}

function listOfOrganization(call: RestCall) {
  const { forge, caller } = call;
  const owner = organizationOf(call);
  const all = forge.state.repositories.all().filter((each) => each.ownerId === owner.id);
  return listed(
    call,
    all.filter((each) => roleIn(forge, caller, each) !== null),
  );
}

/** The organization in the path. */
export function organizationOf({ forge, params }: RestCall): AccountRow {
  const [account] = forge.state.accounts.inGroup((params["org"] ?? "").toLowerCase());
  if (account?.type !== "Organization") throw notFound();
  return account;
}

function createInOrganization(call: RestCall) {
  const owner = organizationOf(call);
  if (call.caller.kind !== "person" || owner.members[call.caller.account.id] === undefined) throw notFound();
  return create(call, owner, call.caller.account);
}

function listOwn(call: RestCall) {
  const { forge, caller } = call;
  if (caller.kind !== "person") throw notFound();
  const mine = forge.state.repositories
    .all()
    .filter((each) => roleOfPerson(forge, caller.account, each) !== null);
  return listed(call, mine);
}

function createOwn(call: RestCall) {
  if (call.caller.kind !== "person") throw notFound();
  return create(call, call.caller.account, call.caller.account);
}

async function create(call: RestCall, owner: AccountRow, by: AccountRow) {
  const { forge, fields, caller } = call;
  const description = optionalText(fields, "description");
  const name = requiredText(fields, "name");
  const row = await makeRepository(forge, owner, by, name, {
    private: optionalFlag(fields, "private") ?? false,
    files: optionalFlag(fields, "auto_init") === true ? { "README.md": `# ${name}\n` } : null,
    ...(description === undefined ? {} : { description }),
  });
  const body = presentFullRepository(forge, row, caller);
  return created(body, body.url);
}
