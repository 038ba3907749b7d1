import { changeRefs } from "../acts/follow-ref-changes.ts";
import { mayPush } from "../acts/protection.ts";
import { needCommit } from "../git/commits.ts";
import { readRef } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import { listTree, type TreeItem } from "../git/tree.ts";
import { commitFiles } from "../git/write-files.ts";
import { presentGitCommit } from "../present/commit.ts";
import { presentContent } from "../present/content.ts";
import { ApiError, notFound, unprocessable } from "../server/api-error.ts";
import { optionalFields, optionalText, requiredText, type Fields } from "../server/body-fields.ts";
import { textHeader } from "../server/handle-call.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { signatureOf } from "../world.ts";

export const contentRoutes = [
  repositoryRoute("GET", "/contents/{path}", "contents:read", read),
  repositoryRoute("GET", "/contents", "contents:read", read),
  repositoryRoute("PUT", "/contents/{path}", "contents:write", write),
  repositoryRoute("DELETE", "/contents/{path}", "contents:write", remove),
];

async function read(call: RepositoryCall) {
  const { forge, repository, query } = call;
  const repo = forge.git.repository(repository.id);
  const name = query.get("ref") ?? repository.defaultBranch;
  const commit = await resolveCommit(repo, name);
  if (commit === null) throw notFound();
  const path = pathOf(call);
  const item = path === "" ? null : await repo.objects.read(`${commit}:${path}`);
  if (path !== "" && item === null) throw notFound();
  if (item?.type === "blob") {
    if (textHeader(call.call, "accept")?.includes("raw")) {
      const headers = { "content-type": "application/vnd.github.raw; charset=utf-8" };
      return ok(item.content.toString("utf8"), headers);
    }
    const file = {
      path,
      sha: item.sha,
      size: item.content.length,
      type: "file",
      content: item.content,
    } as const;
    return ok(presentContent(forge, repository, file, name));
  }
  const items = await listTree(repo, item?.sha ?? `${commit}:`, false);
  return ok(items.map((each) => presentContent(forge, repository, inFolder(path, each), name)));
}

const KINDS = { blob: "file", tree: "dir", commit: "submodule" } as const;

const inFolder = (folder: string, item: TreeItem) => ({
  path: folder === "" ? item.path : `${folder}/${item.path}`,
  sha: item.sha,
  size: item.size ?? 0,
  type: KINDS[item.type],
  content: null,
});

/** The path asked for, refused where it could not be a file's. */
function pathOf({ params }: RepositoryCall): string {
  const path = (params["path"] ?? "").replace(/^\/+|\/+$/g, "");
  if (path.includes("\n") || path.split("/").some((part) => part === ".." || part === ".git"))
    throw unprocessable("path contains a malformed path component");
  return path;
}

async function write(call: RepositoryCall) {
  const { forge, repository, fields } = call;
  const content = Buffer.from(requiredText(fields, "content"), "base64");
  const path = pathOf(call);
  const { sha, isNew, blob } = await commitChange(call, path, content);
  const commit = presentGitCommit(
    forge,
    repository,
    await needCommit(forge.git.repository(repository.id), sha),
  );
  const file = { path, sha: blob ?? "", size: content.length, type: "file", content: null } as const;
  const shown = presentContent(forge, repository, file, branchOf(call));
  const body = { content: shown, commit };
  return isNew ? created(body) : ok(body);
}

async function remove(call: RepositoryCall) {
  const { forge, repository } = call;
  const { sha } = await commitChange(call, pathOf(call), null);
  const commit = presentGitCommit(
    forge,
    repository,
    await needCommit(forge.git.repository(repository.id), sha),
  );
  return ok({ content: null, commit });
}

const branchOf = ({ fields, repository }: RepositoryCall): string =>
  (optionalText(fields, "branch") ?? repository.defaultBranch).replace(/^refs\/heads\//, "");

/** Commits one changed file to a branch, if the file still is the one the caller saw. */
function commitChange(call: RepositoryCall, path: string, content: Buffer | null) {
  const { forge, repository, fields, actor } = call;
  const message = requiredText(fields, "message");
  const branch = branchOf(call);
  const repo = forge.git.repository(repository.id);
  return forge.exclusively(repository.id, async () => {
    const tip = await readRef(repo, `refs/heads/${branch}`);
    if (tip === null && branch !== repository.defaultBranch)
      throw new ApiError(404, `Branch ${branch} not found`);
    const present = tip === null ? null : await repo.objects.read(`${tip}:${path}`);
    const known = optionalText(fields, "sha");
    if (present === null && content === null) throw notFound();
    if (present !== null && known === undefined)
      throw unprocessable(`Invalid request.\n\n"sha" wasn't supplied.`);
    if (known !== undefined && present?.sha !== known)
      throw new ApiError(409, `${path} does not match ${known}`);
    if (!mayPush(forge, repository, branch, actor))
      throw new ApiError(409, "Could not create file: Changes must be made through a pull request.");
    const committer = signatureFrom(fields, "committer", forge.now()) ?? signatureOf(actor, forge.now());
    const author = signatureFrom(fields, "author", forge.now()) ?? committer;
    const [sha = ""] = await commitFiles(repo, [
      { parent: tip, message, author, committer, files: { [path]: content } },
    ]);
    const name = `refs/heads/${branch}`;
    const result = await changeRefs(forge, repository, actor, [{ name, before: tip, after: sha }]);
    if (result !== "done") throw new ApiError(409, `${branch} was changed in the meantime`);
    const blob = content === null ? null : ((await repo.objects.read(`${sha}:${path}`))?.sha ?? null);
    return { sha, isNew: present === null, blob };
  });
}

function signatureFrom(fields: Fields, name: string, now: string) {
  const given = optionalFields(fields, name);
  if (given === undefined) return undefined;
  const date = optionalText(given, "date") ?? now;
  return { name: requiredText(given, "name"), email: requiredText(given, "email"), date };
}
