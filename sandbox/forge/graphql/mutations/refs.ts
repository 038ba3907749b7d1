import { mergeBranch as mergeBranchNow } from "../../actions/merge-branch.ts";
import { changeRefs } from "../../actions/change-refs.ts";
import { mayChangeWorkflows, newWorkflow, refusedForWorkflow } from "../../queries/workflow-files.ts";
import { mayPush, mayRewrite, missingSignature } from "../../actions/protection.ts";
import { readCommit } from "../../git/commits.ts";
import { isAncestor } from "../../git/history.ts";
import { isRefName, readRef, shortRefName, ZERO_SHA, type RefUpdate } from "../../git/refs.ts";
import type { AccountRow, RepositoryRow } from "../../rows.ts";
import { needRefId, needRepository } from "../find-node.ts";
import { ApiError } from "../../server/api-error.ts";
import { assertMayWrite } from "../permission.ts";
import { GraphqlRefusal, notFound, refusalOf, unprocessable } from "../refusal.ts";
import { type Mutation, type Scope } from "../scope.ts";

const UPDATE_FAILED = "Reference update failed";

/** One change of `updateRefs`. A hash of zeros means that the ref does not exist. */
interface WantedUpdate {
  readonly name: string;
  readonly beforeOid?: string | null;
  readonly afterOid: string;
  readonly force?: boolean | null;
}

export const createRef: Mutation<{ repositoryId: string; name: string; oid: string }> = async (
  { input },
  scope,
) => {
  const repository = needRepository(scope, input.repositoryId);
  await change(scope, repository, [{ name: input.name, beforeOid: ZERO_SHA, afterOid: input.oid }], {
    moved: `A ref named "${input.name}" already exists in the repository.`,
    // https://github.com/microsoft/vscode-remote-repositories-github/issues/122
    clash: "Ref cannot be created",
  });
  return { ref: () => scope.ref(repository, input.name, input.oid) };
};

export const updateRef: Mutation<{ refId: string; oid: string; force?: boolean | null }> = async (
  { input },
  scope,
) => {
  const { repository, name } = needRefId(scope, input.refId);
  await needRef(scope, repository, name, input.refId);
  await change(scope, repository, [{ name, afterOid: input.oid, force: input.force ?? false }]);
  return { ref: () => scope.ref(repository, name, input.oid) };
};

export const deleteRef: Mutation<{ refId: string }> = async ({ input }, scope) => {
  const { repository, name } = needRefId(scope, input.refId);
  await needRef(scope, repository, name, input.refId);
  await change(scope, repository, [{ name, afterOid: ZERO_SHA }]);
  return {};
};

/** Changes all refs or none. */
export const updateRefs: Mutation<{ repositoryId: string; refUpdates: readonly WantedUpdate[] }> = async (
  { input },
  scope,
) => {
  await change(scope, needRepository(scope, input.repositoryId), input.refUpdates);
  return {};
};

async function needRef(scope: Scope, repository: RepositoryRow, name: string, id: string): Promise<void> {
  if ((await readRef(scope.forge.git.repository(repository.id), name)) === null) throw notFound(id);
}

async function change(
  scope: Scope,
  repository: RepositoryRow,
  wanted: readonly WantedUpdate[],
  messages = { moved: UPDATE_FAILED, clash: UPDATE_FAILED },
): Promise<void> {
  const by = assertMayWrite(scope, repository, "contents:write");
  await scope.forge.withLock(repository.id, async () => {
    const updates: RefUpdate[] = [];
    for (const each of wanted) updates.push(await checkUpdate(scope, repository, by, each));
    const result = await changeRefs(scope.forge, repository, by, updates);
    if (result !== "done") throw unprocessable(messages[result]);
  });
}

/** Checks one change and returns it as a Git ref update. */
async function checkUpdate(
  { forge, caller }: Scope,
  repository: RepositoryRow,
  by: AccountRow,
  wanted: WantedUpdate,
): Promise<RefUpdate> {
  const { name } = wanted;
  if (!isRefName(name) || name.split("/").length < 3) throw unprocessable(`${name} is not a valid ref name`);
  const repo = forge.git.repository(repository.id);
  const branch = shortRefName(name);
  const current = await readRef(repo, name);
  const before = wanted.beforeOid === ZERO_SHA ? null : (wanted.beforeOid ?? undefined);
  const after = wanted.afterOid === ZERO_SHA ? null : wanted.afterOid;
  if (after === null) {
    if (branch === repository.defaultBranch) throw unprocessable("Cannot delete the default branch");
    if (!mayRewrite(forge, repository, branch, "delete")) throw unprocessable("Cannot delete this branch");
    return { name, before, after };
  }
  if ((await repo.objects.read(after)) === null) throw unprocessable("Object does not exist");
  const workflow = mayChangeWorkflows(caller) ? null : await newWorkflow(repo, after);
  if (workflow !== null) throw new GraphqlRefusal("FORBIDDEN", refusedForWorkflow(workflow));
  if (name.startsWith("refs/heads/")) {
    if ((await readCommit(repo, after)) === null) throw unprocessable("Object is not a commit");
    if (!mayPush(forge, repository, branch, by))
      throw unprocessable("You're not authorized to push to this branch.");
    const unsigned = await missingSignature(forge, repository, branch, current, after);
    if (unsigned !== null) throw unprocessable(unsigned);
    if (
      current !== null &&
      (before === undefined || before === current) &&
      !(await isAncestor(repo, current, after))
    ) {
      const isAllowed = wanted.force === true && mayRewrite(forge, repository, branch, "force");
      if (!isAllowed) throw unprocessable("Update is not a fast forward");
    }
  }
  return { name, before, after };
}

interface BranchInput {
  readonly repositoryId: string;
  readonly base: string;
  readonly head: string;
  readonly commitMessage?: string | null;
}

/** `mergeCommit` is null if the base already contains the head. */
export const mergeBranch: Mutation<BranchInput> = async ({ input }, scope) => {
  const repository = needRepository(scope, input.repositoryId);
  const by = assertMayWrite(scope, repository, "contents:write");
  const { base, head, commitMessage: message = null } = input;
  const merge = { by, base, head, message, lacksWorkflows: !mayChangeWorkflows(scope.caller) };
  const sha = await mergeBranchNow(scope.forge, repository.id, merge).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 403) throw refusalOf(error);
    throw error instanceof ApiError ? unprocessable(`Failed to merge: "${error.message}"`) : error;
  });
  return { mergeCommit: () => scope.commit(repository, sha) };
};
