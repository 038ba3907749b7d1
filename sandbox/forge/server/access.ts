import type { ForgeContext } from "../context.ts";
import type { AccountRow, InstallationRow, Permissions, RepositoryRow } from "../rows.ts";
import { repositoryKey } from "../state.ts";
import { ApiError, notFound } from "./api-error.ts";
import type { Caller } from "./caller.ts";
import type { Permission, Route } from "./route.ts";

/** Null: the repository is reported as not found. */
export type Role = "admin" | "write" | "read" | null;

export function roleIn(forge: ForgeContext, caller: Caller, repository: RepositoryRow): Role {
  const publicRole = repository.private ? null : "read";
  switch (caller.kind) {
    case "anonymous":
    case "app":
      return publicRole;
    case "installation":
      return grants(caller, repository) ? "write" : publicRole;
    case "person":
      if (caller.token.isOfApp && installationOf(forge, repository) === undefined) return publicRole;
      return roleOfPerson(forge, caller.account, repository) ?? publicRole;
  }
}

/** A user's role as the repository's owner or as a member of the owning organization. */
export function roleOfPerson(forge: ForgeContext, account: AccountRow, repository: RepositoryRow): Role {
  if (repository.ownerId === account.id) return "admin";
  const role = forge.state.accounts.need(repository.ownerId).members[account.id];
  if (role === undefined) return null;
  return role === "admin" ? "admin" : "write";
}

export const covers = (installation: InstallationRow, repository: RepositoryRow): boolean =>
  installation.accountId === repository.ownerId &&
  (installation.repositorySelection === "all" || installation.repositoryIds.includes(repository.id));

function grants(caller: Extract<Caller, { kind: "installation" }>, repository: RepositoryRow): boolean {
  const narrowed = caller.token.repositoryIds;
  return covers(caller.installation, repository) && (narrowed === null || narrowed.includes(repository.id));
}

/** The installation that covers a repository, suspended or not. */
export const installationOf = (forge: ForgeContext, repository: RepositoryRow): InstallationRow | undefined =>
  forge.state.installations.inGroup(repository.ownerId).find((each) => covers(each, repository));

export function permits(permissions: Permissions, wanted: Permission): boolean {
  const [name = "", level] = wanted.split(":");
  const granted = permissions[name] ?? (name === "metadata" ? "read" : undefined);
  return granted !== undefined && (level === "read" || granted !== "read");
}

export const acceptedPermissions = (route: Route): Record<string, string> =>
  route.permissions.length === 0
    ? {}
    : { "x-accepted-github-permissions": route.permissions.map((each) => each.replace(":", "=")).join("; ") };

/** The App's permissions, for calls that it makes as itself or as a person; else null. */
function grantedTo(forge: ForgeContext, caller: Caller, repository: RepositoryRow): Permissions | null {
  if (caller.kind === "installation") return caller.permissions;
  const isAsPerson = caller.kind === "person" && caller.token.isOfApp === true;
  return isAsPerson ? (installationOf(forge, repository)?.permissions ?? null) : null;
}

/** Throws GitHub's error if the caller may not call a repository's route. */
export function assertPermitted(
  forge: ForgeContext,
  caller: Caller,
  repository: RepositoryRow,
  route: Route,
): void {
  const role = roleIn(forge, caller, repository);
  if (role === null) throw notFound();
  const isRead = route.method === "GET";
  const granted = grantedTo(forge, caller, repository);
  if (granted !== null && !route.permissions.some((each) => permits(granted, each)))
    throw new ApiError(403, "Resource not accessible by integration", {
      headers: acceptedPermissions(route),
    });
  if (!isRead && (caller.kind === "anonymous" || caller.kind === "app"))
    throw new ApiError(401, "Requires authentication");
  if (!isRead && role === "read") throw new ApiError(403, "Must have push access to the repository.");
  if (route.isAdmin && caller.kind === "person" && role !== "admin")
    throw new ApiError(403, "Must have admin rights to Repository.");
  if (repository.archived && !route.isAllowedOnArchived)
    throw new ApiError(403, "Repository was archived so is read-only.");
}

/** Finds a repository by id (owner `:id`) or by owner and name; `movedTo` if by a former name. */
export function findRepository(
  forge: ForgeContext,
  owner: string,
  name: string,
): { readonly repository: RepositoryRow } | { readonly movedTo: RepositoryRow } | null {
  const { accounts, repositories } = forge.state;
  if (owner === ":id") {
    const repository = repositories.get(Number(name));
    return repository === undefined ? null : { repository };
  }
  const [account] = accounts.inGroup(owner.toLowerCase());
  const plain = name.replace(/\.git$/, "");
  const [repository] = account === undefined ? [] : repositories.inGroup(repositoryKey(account.id, plain));
  if (repository !== undefined) return { repository };
  const former = `${owner}/${plain}`.toLowerCase();
  const moved = repositories.find((each) => each.formerNames.includes(former));
  return moved === undefined ? null : { movedTo: moved };
}
