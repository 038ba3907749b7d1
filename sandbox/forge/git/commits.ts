import type { GitRepository } from "./git.ts";
import { verifiedSignature } from "./signatures.ts";

/** `date` is ISO 8601 UTC. */
export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
  /** The forge's, if it is valid. */
  readonly signature: string | null;
}

const MAX_CACHED = 5_000;
const commits = new WeakMap<GitRepository, Map<string, Commit>>();

/** Reads a commit by its full or abbreviated hash or by a tag's hash; null for anything else. */
export async function readCommit(repo: GitRepository, sha: string): Promise<Commit | null> {
  const known = commits.get(repo) ?? new Map<string, Commit>();
  commits.set(repo, known);
  const cached = known.get(sha);
  if (cached !== undefined) return cached;
  const object = await repo.objects.read(sha);
  if (object === null) return null;
  if (object.type === "tag") {
    const target = /^object ([0-9a-f]{40})$/m.exec(object.content.toString("utf8"))?.[1];
    return target === undefined ? null : readCommit(repo, target);
  }
  if (object.type !== "commit") return null;
  const commit = parseCommit(object.sha, object.content.toString("utf8"));
  if (known.size >= MAX_CACHED) known.clear();
  known.set(commit.sha, commit);
  return commit;
}

/** Reads a commit that must exist; throws if it does not. */
export async function needCommit(repo: GitRepository, sha: string): Promise<Commit> {
  const commit = await readCommit(repo, sha);
  if (commit === null) throw new Error(`commit ${sha} is missing in ${repo.path}`);
  return commit;
}

export const readCommits = (repo: GitRepository, shas: readonly string[]): Promise<Commit[]> =>
  Promise.all(shas.map((sha) => needCommit(repo, sha)));

export const subjectOf = (message: string): string => message.split("\n", 1)[0] ?? "";

/** The message without its first line and the empty line below it. */
export function bodyOf(message: string): string {
  const end = message.indexOf("\n");
  return end < 0 ? "" : message.slice(end).replace(/^\n+/, "").trimEnd();
}

/** The author, then those whom trailers in the last paragraph of the message name. */
export function authorsOf({ author, message }: Commit): Signature[] {
  const trailers =
    bodyOf(message)
      .split(/\n\s*\n/)
      .at(-1) ?? "";
  const named = [...trailers.matchAll(/^co-authored-by: *(.*?) *<([^<>\n]+)>[ \t]*$/gim)];
  return [author, ...named.map(([, name = "", email = ""]) => ({ name, email, date: author.date }))].filter(
    ({ email }, at, all) => all.findIndex((other) => other.email === email) === at,
  );
}

function parseCommit(sha: string, text: string): Commit {
  const end = text.indexOf("\n\n");
  const head = end < 0 ? text : text.slice(0, end);
  const lines = head.split("\n");
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  return {
    sha,
    tree: field("tree")[0] ?? "",
    parents: field("parent"),
    author: parseSignature(field("author")[0] ?? ""),
    committer: parseSignature(field("committer")[0] ?? ""),
    // Git stores a trailing line break, which GitHub's API leaves out.
    message: end < 0 ? "" : text.slice(end + 2).replace(/\n$/, ""),
    signature: verifiedSignature(text),
  };
}

function parseSignature(line: string): Signature {
  const match = /^(.*?) ?<([^>]*)> (-?\d+) [+-]\d{4}$/.exec(line);
  if (match === null) return { name: line, email: "", date: "1970-01-01T00:00:00Z" };
  const [, name = "", email = "", seconds = "0"] = match;
  return { name, email, date: isoSeconds(new Date(Number(seconds) * 1000)) };
}

/** Formats a time as GitHub does: UTC, whole seconds. */
export const isoSeconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
