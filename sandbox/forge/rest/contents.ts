import type { ForgeContext } from "../context.ts";
import { changeRefs } from "../actions/change-refs.ts";
import { mayPush } from "../actions/protection.ts";
import { needCommit } from "../git/commits.ts";
import { branchNameOf, readRef } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import { listTree, type TreeItem } from "../git/tree.ts";
import { commitFiles } from "../git/write-files.ts";
import { presentGitCommit } from "../present/commit.ts";
import { encodePath } from "../present/comparison.ts";
import { wrapBase64 } from "../present/git-data.ts";
import { repositoryHtmlUrl, repositoryUrl } from "../present/repository.ts";
import type { RepositoryRow } from "../rows.ts";
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
    if (textHeader(call.apiCall, "accept")?.includes("raw")) {
      const headers = { "content-type": "application/vnd.github.raw; charset=utf-8" };
      return ok(item.content.toString("utf8"), headers);
    }
    const { sha, content } = item;
    const file = { path, sha, size: content.length, type: "file", content } as const;
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

/** The requested path. Throws if a file cannot have it. */
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
  const file = { path, sha: blob ?? "", size: content.length, type: "file", content: null } as const;
  const shown = presentContent(forge, repository, file, branchOf(call));
  const body = { content: shown, commit: await presentWritten(call, sha) };
  return isNew ? created(body) : ok(body);
}

async function remove(call: RepositoryCall) {
  const { sha } = await commitChange(call, pathOf(call), null);
  return ok({ content: null, commit: await presentWritten(call, sha) });
}

async function presentWritten({ forge, repository }: RepositoryCall, sha: string) {
  return presentGitCommit(forge, repository, await needCommit(forge.git.repository(repository.id), sha));
}

const branchOf = ({ fields, repository }: RepositoryCall): string =>
  branchNameOf(optionalText(fields, "branch") ?? repository.defaultBranch);

/** Commits one changed file to a branch, provided its blob still has the given `sha`. */
function commitChange(call: RepositoryCall, path: string, content: Buffer | null) {
  const { forge, repository, fields, actor } = call;
  const message = requiredText(fields, "message");
  const branch = branchOf(call);
  const repo = forge.git.repository(repository.id);
  return forge.withLock(repository.id, async () => {
    const tip = await readRef(repo, `refs/heads/${branch}`);
    if (tip === null && branch !== repository.defaultBranch)
      throw new ApiError(404, `Branch ${branch} not found`);
    const existing = tip === null ? null : await repo.objects.read(`${tip}:${path}`);
    const known = optionalText(fields, "sha");
    if (existing === null && content === null) throw notFound();
    if (existing !== null && known === undefined)
      throw unprocessable(`Invalid request.\n\n"sha" wasn't supplied.`);
    if (known !== undefined && existing?.sha !== known)
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
    return { sha, isNew: existing === null, blob };
  });
}

function signatureFrom(fields: Fields, name: string, now: string) {
  const given = optionalFields(fields, name);
  if (given === undefined) return undefined;
  const date = optionalText(given, "date") ?? now;
  return { name: requiredText(given, "name"), email: requiredText(given, "email"), date };
}

interface Content {
  readonly path: string;
  readonly sha: string;
  readonly size: number;
  readonly type: "file" | "dir" | "submodule";
  /** Null in the listing of a folder. */
  readonly content: Buffer | null;
}

/** A file or folder at a ref. */
function presentContent(forge: ForgeContext, repository: RepositoryRow, item: Content, ref: string) {
  const path = encodePath(item.path);
  const url = `${repositoryUrl(forge, repository, "contents", path)}?ref=${encodeURIComponent(ref)}`;
  const kind = item.type === "dir" ? "tree" : "blob";
  const git = repositoryUrl(forge, repository, "git", `${kind}s`, item.sha);
  const html = repositoryHtmlUrl(forge, repository, kind, encodePath(ref), path);
  return {
    name: item.path.split("/").at(-1) ?? "",
    path: item.path,
    sha: item.sha,
    size: item.size,
    url,
    html_url: html,
    git_url: git,
    download_url:
      item.type === "file" ? repositoryHtmlUrl(forge, repository, "raw", encodePath(ref), path) : null,
    type: item.type,
    ...(item.content === null
      ? {}
      : { content: wrapBase64(item.content.toString("base64")), encoding: "base64" }),
    _links: { self: url, git, html },
  };
}
