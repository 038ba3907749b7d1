import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GitError, type GitRepository } from "./git.ts";

export const ZERO_SHA = "0".repeat(40);

interface Ref {
  /** The full name, such as `refs/heads/main`. */
  readonly name: string;
  readonly sha: string;
}

/** The branch name in a full ref name. Returns the name of another ref as it is. */
export const branchNameOf = (name: string): string => name.replace(/^refs\/heads\//, "");

/** The branch or tag name in a full ref name. */
export const shortRefName = (name: string): string => name.replace(/^refs\/(?:heads|tags)\//, "");

/**
 * The hash a ref points at (for an annotated tag, the tag object's), or null. Reads git's files
 * without a process.
 */
export async function readRef(repo: GitRepository, name: string): Promise<string | null> {
  if (!isRefName(name)) return null;
  const loose = await readText(join(repo.path, name));
  if (loose !== null) return /^[0-9a-f]{40}/.exec(loose)?.[0] ?? null;
  const packed = await readText(join(repo.path, "packed-refs"));
  if (packed === null) return null;
  const line = packed.split("\n").find((each) => each.slice(41) === name);
  return line === undefined ? null : line.slice(0, 40);
}

/** All refs with a prefix such as `refs/heads/`. */
export async function listRefs(
  repo: GitRepository,
  prefix: string,
  sort: "refname" | "creatordate" = "refname",
): Promise<Ref[]> {
  const text = await repo.text([
    "for-each-ref",
    `--sort=${sort}`,
    "--format=%(objectname) %(refname)",
    "--",
    ...(prefix === "" ? [] : [prefix]),
  ]);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ sha: line.slice(0, 40), name: line.slice(41) }));
}

export interface RefUpdate {
  readonly name: string;
  /** The required current hash; null: must not exist; undefined: any. */
  readonly before?: string | null | undefined;
  /** Null deletes the ref. */
  readonly after: string | null;
}

export type RefUpdateResult =
  | "done"
  /** The ref is not at `before`, or another process has locked it. */
  | "moved"
  /** Another ref blocks the name, such as `a` for `a/b`. */
  | "clash";

/** Changes all refs or none, each only if it is at `before`. */
export async function updateRefs(
  repo: GitRepository,
  updates: readonly RefUpdate[],
): Promise<RefUpdateResult> {
  const line = ({ name, before, after }: RefUpdate): string => {
    if (!isRefName(name)) throw new Error(`not a ref name: ${name}`);
    const old = before === undefined ? "" : (before ?? ZERO_SHA);
    if (after === null) return old === "" ? `delete ${name}\0\0` : `delete ${name}\0${old}\0`;
    return `update ${name}\0${after}\0${old}\0`;
  };
  try {
    await repo.run(["update-ref", "--no-deref", "--stdin", "-z"], { input: updates.map(line).join("") });
    return "done";
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (/cannot (?:create|lock ref)[\s\S]*(?:exists; cannot create|non-empty directory)/.test(error.stderr))
      return "clash";
    if (/cannot lock ref|reference already exists|but expected/.test(error.stderr)) return "moved";
    throw error;
  }
}

export const updateRef = (repo: GitRepository, name: string, after: string | null, before?: string | null) =>
  updateRefs(repo, [{ name, after, before }]);

/** Whether a full ref name is valid by the rules of `git check-ref-format`. */
export function isRefName(name: string): boolean {
  if (!name.startsWith("refs/") || name.endsWith("/") || name.endsWith(".") || name.length > 1_000)
    return false;
  for (const character of name) if (character <= " " || character === "\x7f") return false;
  if (/\.\.|@\{|\/\/|[~^:?*[\\]/.test(name)) return false;
  return (
    name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock")) &&
    name.split("/").length > 1
  );
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR" || code === "ENAMETOOLONG") return null;
    throw error;
  }
}
