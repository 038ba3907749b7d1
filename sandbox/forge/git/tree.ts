import type { GitRepository } from "./git.ts";

export interface TreeItem {
  readonly path: string;
  readonly mode: string;
  readonly type: "blob" | "tree" | "commit";
  readonly sha: string;
  readonly size: number | null;
}

/** The entries of a tree; `recursive` includes subtrees and their entries. */
export async function listTree(repo: GitRepository, sha: string, recursive: boolean): Promise<TreeItem[]> {
  const text = await repo.text(["ls-tree", "-z", "--long", ...(recursive ? ["-r", "-t"] : []), sha]);
  return text
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [facts = "", path = ""] = line.split("\t");
      const [mode = "", type = "", object = "", size = "-"] = facts.split(/ +/);
      return {
        path,
        mode,
        type: type as TreeItem["type"],
        sha: object,
        size: size === "-" ? null : Number(size),
      };
    });
}
