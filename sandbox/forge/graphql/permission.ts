import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { permits, roleIn } from "../server/access.ts";
import type { Caller } from "../server/caller.ts";
import type { Permission } from "../server/route.ts";
import { needPullRequest } from "./find-node.ts";
import { forbidden, GraphqlRefusal } from "./refusal.ts";
import type { Scope } from "./scope.ts";

/**
 * Throws unless the permission allows an installation to read this of a private repository.
 * Anybody may read a public one.
 */
export function assertMayRead(caller: Caller, repository: RepositoryRow, wanted: Permission): void {
  if (caller.kind === "installation" && repository.private && !permits(caller.permissions, wanted))
    throw forbidden();
}

/**
 * Returns the account that acts. Throws unless the caller may write to the repository; an
 * installation needs all of the permissions.
 */
export function assertMayWrite(
  scope: Scope,
  repository: RepositoryRow,
  ...wanted: readonly Permission[]
): AccountRow {
  const { caller, forge } = scope;
  if (!("account" in caller)) throw forbidden();
  if (caller.kind === "installation" && !wanted.every((each) => permits(caller.permissions, each)))
    throw forbidden();
  const role = roleIn(forge, caller, repository);
  if (role !== "write" && role !== "admin") {
    const { login } = caller.account;
    throw new GraphqlRefusal("FORBIDDEN", `${login} does not have the correct permissions to execute this.`);
  }
  if (repository.archived)
    throw new GraphqlRefusal("UNPROCESSABLE", "Repository was archived so is read-only.");
  return caller.account;
}

/** The pull request that a mutation changes, its repository, and the account that acts. */
export function pullRequestToWrite(
  scope: Scope,
  id: string,
  ...wanted: readonly Permission[]
): { readonly pull: PullRequestRow; readonly repository: RepositoryRow; readonly by: AccountRow } {
  const pull = needPullRequest(scope, id);
  const repository = scope.forge.state.repositories.need(pull.repositoryId);
  return { pull, repository, by: assertMayWrite(scope, repository, ...wanted) };
}
