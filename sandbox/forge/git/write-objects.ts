import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Signature } from "./commits.ts";
import type { GitRepository } from "./git.ts";

/** Writes a blob and returns its hash. */
export const writeBlob = (repo: GitRepository, content: Buffer): Promise<string> =>
  repo.text(["hash-object", "-w", "--stdin"], { input: content });

export interface TreeChange {
  readonly path: string;
  readonly mode: string;
  /** Null removes the path. */
  readonly sha: string | null;
}

/** Writes the tree `base` (null: empty) with changes. Throws `GitError` if an object is missing. */
export async function writeTree(
  repo: GitRepository,
  base: string | null,
  changes: readonly TreeChange[],
): Promise<string> {
  const index = join(repo.path, `index-${randomUUID()}`);
  const env = { GIT_INDEX_FILE: index };
  try {
    await repo.run(["read-tree", ...(base === null ? ["--empty"] : [base])], { env });
    const subtrees = changes.filter((each) => each.mode === "040000" && each.sha !== null);
    const files = changes.filter((each) => each.mode !== "040000" || each.sha === null);
    const lines = files.map(
      ({ path, mode, sha }) => `${sha === null ? "0" : mode} ${sha ?? "0".repeat(40)}\t${path}\0`,
    );
    await repo.run(["update-index", "-z", "--index-info"], { env, input: lines.join("") });
    for (const { path, sha } of subtrees) {
      await repo.run(["rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", path], { env });
      await repo.run(["read-tree", `--prefix=${path}/`, sha ?? ""], { env });
    }
    return await repo.text(["write-tree"], { env });
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

interface NewTag {
  readonly name: string;
  readonly object: string;
  readonly type: string;
  readonly message: string;
  readonly tagger: Signature;
}

/** Writes the object of an annotated tag, without a ref. */
export function writeTag(repo: GitRepository, tag: NewTag): Promise<string> {
  const seconds = Math.floor(Date.parse(tag.tagger.date) / 1000);
  const { name, email } = tag.tagger;
  const head = `object ${tag.object}\ntype ${tag.type}\ntag ${tag.name}\ntagger ${name} <${email}> ${seconds} +0000\n\n`;
  return repo.text(["mktag"], { input: `${head}${tag.message.trimEnd()}\n` });
}
