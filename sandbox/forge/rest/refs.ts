import { changeRefs } from "../actions/change-refs.ts";
import { hiddenForWorkflow, mayChangeWorkflows, newWorkflow } from "../queries/workflow-files.ts";
import { mayPush, mayRewrite, missingSignature } from "../actions/protection.ts";
import { isAncestor } from "../git/history.ts";
import { branchNameOf, isRefName, listRefs, readRef } from "../git/refs.ts";
import { presentRef } from "../present/git-data.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { optionalFlag, requiredText } from "../server/body-fields.ts";
import { created, noContent, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

const HASH = /^[0-9a-f]{40}$/;

export const refRoutes = [
  repositoryRoute("GET", "/git/ref/{ref}", "contents:read", readOne),
  repositoryRoute("GET", "/git/matching-refs/{ref}", "contents:read", readMatching),
  repositoryRoute("POST", "/git/refs", "contents:write", createRef),
  repositoryRoute("PATCH", "/git/refs/{ref}", "contents:write", updateRef),
  repositoryRoute("DELETE", "/git/refs/{ref}", "contents:write", deleteRef),
];

const EMPTY = "Git Repository is empty.";
const PROTECTED = "Cannot update this protected ref.";

/** Whether the repository has no branch. */
async function isEmpty({ forge, repository }: RepositoryCall): Promise<boolean> {
  return (await listRefs(forge.git.repository(repository.id), "refs/heads/")).length === 0;
}

async function readOne(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const name = `refs/${params["ref"]}`;
  const sha = await readRef(forge.git.repository(repository.id), name);
  if (sha === null) throw (await isEmpty(call)) ? new ApiError(409, EMPTY) : notFound();
  return ok(await presentOne(call, name, sha));
}

async function presentOne({ forge, repository }: RepositoryCall, name: string, sha: string) {
  const object = await forge.git.repository(repository.id).objects.read(sha);
  return presentRef(forge, repository, { name, sha, type: object?.type ?? "commit" });
}

async function readMatching(call: RepositoryCall) {
  const { forge, repository, params } = call;
  const prefix = `refs/${params["ref"]}`;
  const refs = await listRefs(forge.git.repository(repository.id), "refs/");
  const matching = refs.filter(
    (each) => each.name.startsWith(prefix) && !each.name.startsWith("refs/forge/"),
  );
  // GitHub's description has no parameters for pages here.
  return ok(await Promise.all(matching.map((each) => presentOne(call, each.name, each.sha))));
}

async function createRef(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const name = requiredText(fields, "ref");
  const sha = requiredText(fields, "sha");
  if (!name.startsWith("refs/")) throw unprocessable("Reference name must start with 'refs/'.");
  if (name.split("/").length < 3)
    throw unprocessable("Reference name must contain at least three slash-separated components.");
  if (!isRefName(name)) throw unprocessable(`${name} is not a valid ref name.`);
  await assertObject(call, name, sha);
  await assertMayHaveWorkflows(call, sha);
  const branch = branchNameOf(name);
  if (branch !== name && !mayPush(forge, repository, branch, actor)) throw unprocessable(PROTECTED);
  const result = await forge.withLock(repository.id, () =>
    changeRefs(forge, repository, actor, [{ name, before: null, after: sha }]),
  );
  if (result === "moved") throw unprocessable("Reference already exists");
  if (result === "clash") throw unprocessable("Reference update failed");
  const ref = await presentOne(call, name, sha);
  return created(ref, ref.url);
}

async function assertObject(call: RepositoryCall, name: string, sha: string): Promise<void> {
  const repo = call.forge.git.repository(call.repository.id);
  const object = HASH.test(sha) ? await repo.objects.read(sha) : null;
  if (object === null)
    throw (await isEmpty(call)) ? new ApiError(409, EMPTY) : unprocessable("Object does not exist");
  if (name.startsWith("refs/heads/") && object.type !== "commit")
    throw unprocessable("Reference update failed");
}

async function assertMayHaveWorkflows({ forge, repository, caller }: RepositoryCall, sha: string) {
  if (mayChangeWorkflows(caller)) return;
  if ((await newWorkflow(forge.git.repository(repository.id), sha)) !== null) throw hiddenForWorkflow();
}

async function updateRef(call: RepositoryCall) {
  const { forge, repository, params, fields, actor } = call;
  const name = `refs/${params["ref"]}`;
  const sha = requiredText(fields, "sha");
  const force = optionalFlag(fields, "force") ?? false;
  const repo = forge.git.repository(repository.id);
  await forge.withLock(repository.id, async () => {
    const before = await readRef(repo, name);
    if (before === null) throw unprocessable("Reference does not exist");
    const object = HASH.test(sha) ? await repo.objects.read(sha) : null;
    if (object === null) throw unprocessable("Object does not exist");
    if (object.type !== "commit" && name.startsWith("refs/heads/"))
      throw unprocessable("Object is not a commit");
    await assertMayHaveWorkflows(call, sha);
    const isForward = object.type === "commit" && (await isAncestor(repo, before, sha));
    if (!force && !isForward) throw unprocessable("Update is not a fast forward");
    const branch = branchNameOf(name);
    const isAllowed =
      mayPush(forge, repository, branch, actor) &&
      (isForward || mayRewrite(forge, repository, branch, "force"));
    if (branch !== name && !isAllowed) throw unprocessable(PROTECTED);
    const unsigned = await missingSignature(forge, repository, branch, before, sha);
    if (unsigned !== null) throw unprocessable(unsigned);
    const result = await changeRefs(forge, repository, actor, [{ name, before, after: sha }]);
    if (result !== "done") throw new ApiError(409, "Reference cannot be updated");
  });
  return ok(await presentOne(call, name, sha));
}

async function deleteRef({ forge, repository, params, actor }: RepositoryCall) {
  const name = `refs/${params["ref"]}`;
  await forge.withLock(repository.id, async () => {
    const before = await readRef(forge.git.repository(repository.id), name);
    if (before === null) throw unprocessable("Reference does not exist");
    const branch = branchNameOf(name);
    if (branch !== name && branch === repository.defaultBranch)
      throw unprocessable("Cannot delete the default branch");
    if (branch !== name && !mayRewrite(forge, repository, branch, "delete"))
      throw unprocessable("Cannot delete this branch");
    await changeRefs(forge, repository, actor, [{ name, before, after: null }]);
  });
  return noContent;
}
