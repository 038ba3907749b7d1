import type { ForgeContext } from "../context.ts";
import { readCommit } from "../git/commits.ts";
import type { GraphqlCall } from "../hooks.ts";
import { accountObject, appObject } from "./nodes/accounts.ts";
import { checkRunObject, checkSuiteObject, rollupObject, statusContextObject } from "./nodes/checks.ts";
import { commitObject, gitObject } from "./nodes/git-objects.ts";
import { pullRequestObject } from "./nodes/pull-request.ts";
import { refObject, repositoryObject } from "./nodes/repository.ts";
import { commentObject, reviewObject } from "./nodes/reviews.ts";
import { assertMayRead } from "./permission.ts";
import type { Permission } from "../server/route.ts";
import type { Scope } from "./scope.ts";

/** Makes the scope of one call. Its functions check what an installation may read. */
export function makeScope(forge: ForgeContext, call: GraphqlCall, operation: Scope["operation"]): Scope {
  const { state } = forge;
  const assertMay = (repositoryId: number, permission: Permission): void =>
    assertMayRead(call.caller, state.repositories.need(repositoryId), permission);
  const scope: Scope = {
    forge,
    caller: call.caller,
    budget: call.budget,
    operation,
    account: (id) => (id === null ? null : accountObject(scope, state.accounts.need(id))),
    accountOf: (row) => accountObject(scope, row),
    app: (id) => {
      const row = state.apps.get(id);
      return row === undefined ? null : appObject(row);
    },
    repository: (row) => repositoryObject(scope, row),
    ref: (repository, name, sha) => {
      assertMay(repository.id, "contents:read");
      return refObject(scope, repository, name, sha);
    },
    gitObject: async (repository, sha) => {
      assertMay(repository.id, "contents:read");
      return gitObject(scope, repository, sha);
    },
    commit: async (repository, sha) => {
      assertMay(repository.id, "contents:read");
      const commit = sha === null ? null : await readCommit(forge.git.repository(repository.id), sha);
      return commit === null ? null : commitObject(scope, repository, commit.sha);
    },
    pullRequest: (row) => {
      assertMay(row.repositoryId, "pull_requests:read");
      return pullRequestObject(scope, row);
    },
    review: (row) => reviewObject(scope, row),
    comment: (row) => commentObject(scope, row),
    checkRun: (row) => {
      assertMay(row.repositoryId, "checks:read");
      return checkRunObject(scope, row);
    },
    checkSuite: (row) => checkSuiteObject(scope, row),
    statusContext: (row) => {
      assertMay(row.repositoryId, "statuses:read");
      return statusContextObject(scope, row);
    },
    rollup: (repository, sha) => rollupObject(scope, repository, sha),
  };
  return scope;
}
