import { webFlow } from "../actions/mergeability.ts";
import { readCommit, type Signature } from "../git/commits.ts";
import { GitError, type GitRepository } from "../git/git.ts";
import { commitTree } from "../git/merge.ts";
import { resolveCommit } from "../git/resolve.ts";
import { writeBlob, writeTag, writeTree, type TreeChange } from "../git/write-objects.ts";
import { listTree } from "../git/tree.ts";
import { presentGitCommit } from "../present/commit.ts";
import { presentBlob, presentTagObject, presentTree } from "../present/git-data.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import {
  optionalChoice,
  optionalFields,
  optionalFieldsList,
  optionalText,
  optionalTexts,
  requiredText,
  type Fields,
} from "../server/body-fields.ts";
import { created, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";
import { signatureOf } from "../world.ts";

export const gitDataRoutes = [
  repositoryRoute("POST", "/git/commits", "contents:write", createCommit),
  repositoryRoute("GET", "/git/commits/{commit_sha}", "contents:read", readOneCommit),
  repositoryRoute("POST", "/git/trees", "contents:write", createTree),
  repositoryRoute("GET", "/git/trees/{tree_sha}", "contents:read", readTree),
  repositoryRoute("POST", "/git/blobs", "contents:write", createBlob),
  repositoryRoute("GET", "/git/blobs/{file_sha}", "contents:read", readBlob),
  repositoryRoute("POST", "/git/tags", "contents:write", createTag),
  repositoryRoute("GET", "/git/tags/{tag_sha}", "contents:read", readTag),
];

const repoOf = ({ forge, repository }: RepositoryCall): GitRepository => forge.git.repository(repository.id);

async function createCommit(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const repo = repoOf(call);
  const message = requiredText(fields, "message");
  const tree = requiredText(fields, "tree");
  const parents = optionalTexts(fields, "parents") ?? [];
  if ((await repo.objects.read(tree))?.type !== "tree") throw unprocessable("Tree SHA does not exist");
  for (const parent of parents)
    if ((await repo.objects.read(parent))?.type !== "commit")
      throw unprocessable("Parent SHA does not exist or is not a commit object");
  const own = signatureOf(actor, forge.now());
  const author = signatureFrom(fields, "author", own);
  // GitHub signs the commits of an App that names neither author nor committer.
  const isSigned = actor.type === "Bot" && !("author" in fields) && !("committer" in fields);
  const committer = isSigned ? webFlow(forge.now()) : signatureFrom(fields, "committer", author);
  const sha = await commitTree(repo, { tree, parents, message, author, committer, isSigned });
  const commit = await readCommit(repo, sha);
  if (commit === null) throw new Error(`commit ${sha} was not written`);
  const body = presentGitCommit(forge, repository, commit);
  return created(body, body.url);
}

function signatureFrom(fields: Fields, name: string, otherwise: Signature): Signature {
  const given = optionalFields(fields, name);
  if (given === undefined) return otherwise;
  const date = optionalText(given, "date") ?? otherwise.date;
  if (Number.isNaN(Date.parse(date)))
    throw unprocessable(`Invalid request.\n\n${date} is not a valid date-time.`);
  return { name: requiredText(given, "name"), email: requiredText(given, "email"), date };
}

async function readOneCommit(call: RepositoryCall) {
  const commit = await readCommit(repoOf(call), call.params["commit_sha"] ?? "");
  if (commit === null) throw notFound();
  return ok(presentGitCommit(call.forge, call.repository, commit));
}

async function createTree(call: RepositoryCall) {
  const { forge, repository, fields } = call;
  const repo = repoOf(call);
  const entries = optionalFieldsList(fields, "tree");
  if (entries === undefined) throw unprocessable(`Invalid request.\n\n"tree" wasn't supplied.`);
  const base = optionalText(fields, "base_tree") ?? null;
  const changes = await Promise.all(entries.map((entry) => treeChange(repo, entry)));
  try {
    const sha = await writeTree(repo, base, changes);
    return created(presentTree(forge, repository, sha, await listTree(repo, sha, false)));
  } catch (error) {
    if (error instanceof GitError) throw unprocessable("GitRPC::BadObjectState");
    throw error;
  }
}

async function treeChange(repo: GitRepository, entry: Fields): Promise<TreeChange> {
  const path = requiredText(entry, "path");
  const mode = optionalChoice(entry, "mode", ["100644", "100755", "040000", "160000", "120000"]) ?? "100644";
  if (
    path.startsWith("/") ||
    path.split("/").some((part) => part === "" || part === "." || part === ".." || part === ".git")
  )
    throw unprocessable("tree.path contains a malformed path component");
  const content = optionalText(entry, "content");
  if (content !== undefined) return { path, mode, sha: await writeBlob(repo, Buffer.from(content)) };
  const sha = optionalText(entry, "sha") ?? null;
  if (sha !== null && mode !== "160000" && (await repo.objects.read(sha)) === null)
    throw unprocessable(`tree.sha ${sha} is not a valid ${mode === "040000" ? "tree" : "blob"}`);
  return { path, mode, sha };
}

async function readTree(call: RepositoryCall) {
  const { forge, repository, params, query } = call;
  const name = params["tree_sha"] ?? "";
  const repo = repoOf(call);
  const commit = await resolveCommit(repo, name);
  const sha = commit === null ? name : ((await readCommit(repo, commit))?.tree ?? name);
  if ((await repo.objects.read(sha))?.type !== "tree") throw notFound();
  return ok(presentTree(forge, repository, sha, await listTree(repo, sha, query.has("recursive"))));
}

async function createBlob(call: RepositoryCall) {
  const { forge, repository, fields } = call;
  const encoding = optionalChoice(fields, "encoding", ["utf-8", "base64"]) ?? "utf-8";
  const content = Buffer.from(requiredText(fields, "content"), encoding === "base64" ? "base64" : "utf8");
  const sha = await writeBlob(repoOf(call), content);
  const { url } = presentBlob(forge, repository, sha, content);
  return created({ sha, url }, url);
}

async function readBlob(call: RepositoryCall) {
  const object = await repoOf(call).objects.read(call.params["file_sha"] ?? "");
  if (object?.type !== "blob") throw notFound();
  return ok(presentBlob(call.forge, call.repository, object.sha, object.content));
}

async function createTag(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const name = requiredText(fields, "tag");
  const message = requiredText(fields, "message");
  const object = requiredText(fields, "object");
  const type = optionalChoice(fields, "type", ["commit", "tree", "blob"]) ?? "commit";
  const repo = repoOf(call);
  if ((await repo.objects.read(object))?.type !== type) throw unprocessable("Object does not exist");
  const tagger = signatureFrom(fields, "tagger", signatureOf(actor, forge.now()));
  const sha = await writeTag(repo, { name, message, object, type, tagger });
  const body = presentTagObject(forge, repository, {
    sha,
    name,
    message,
    tagger,
    object: { sha: object, type },
  });
  return created(body, body.url);
}

async function readTag(call: RepositoryCall) {
  const object = await repoOf(call).objects.read(call.params["tag_sha"] ?? "");
  if (object?.type !== "tag") throw notFound();
  const text = object.content.toString("utf8");
  const field = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "";
  const [, name = "", email = "", seconds = "0"] = /^(.*?) <(.*?)> (\d+)/.exec(field("tagger")) ?? [];
  return ok(
    presentTagObject(call.forge, call.repository, {
      sha: object.sha,
      name: field("tag"),
      message: text.slice(text.indexOf("\n\n") + 2).trimEnd(),
      tagger: { name, email, date: new Date(Number(seconds) * 1000).toISOString().replace(".000", "") },
      object: { sha: field("object"), type: field("type") },
    }),
  );
}
