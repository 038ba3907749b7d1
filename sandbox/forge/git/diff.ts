import { type GitRepository, cached } from "./git.ts";
import { aheadBehind, mergeBase } from "./history.ts";

export interface DiffFile {
  /** The blob's hash after the change; for a removed file, before it. */
  readonly sha: string;
  readonly path: string;
  readonly previousPath: string | null;
  readonly status: "added" | "removed" | "modified" | "renamed" | "copied" | "changed";
  readonly additions: number;
  readonly deletions: number;
  /** Null for a binary file. */
  readonly patch: string | null;
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const STATUS = { A: "added", D: "removed", M: "modified", R: "renamed", C: "copied", T: "changed" } as const;

/** The files that differ between two commits, with renames; `from: null` is the empty tree. */
export async function diffFiles(repo: GitRepository, from: string | null, to: string): Promise<DiffFile[]> {
  const range = [from ?? EMPTY_TREE, to];
  const [raw, counts, text] = await Promise.all([
    repo.text(["diff-tree", "-r", "-M", "--raw", "--abbrev=40", "-z", ...range]),
    repo.text(["diff-tree", "-r", "-M", "--numstat", "-z", ...range]),
    repo.text(["diff-tree", "-r", "-M", "--patch", ...range]),
  ]);
  const numbers = parseCounts(counts);
  const patches = text.split(/^diff --git .*\n/m).slice(1);
  return parseRaw(raw).map((file, index) => {
    const patch = patches[index] ?? "";
    const start = patch.indexOf("@@ ");
    return { ...file, ...numbers[index]!, patch: start < 0 ? null : patch.slice(start).replace(/\n$/, "") };
  });
}

function parseRaw(text: string): Pick<DiffFile, "sha" | "path" | "previousPath" | "status">[] {
  const fields = text.split("\0").filter((field) => field !== "");
  const files: Pick<DiffFile, "sha" | "path" | "previousPath" | "status">[] = [];
  for (let index = 0; index < fields.length;) {
    const [, , before = "", after = "", letters = "M"] = (fields[index] ?? "").split(" ");
    const letter = letters[0] as keyof typeof STATUS;
    const isMoved = letter === "R" || letter === "C";
    const first = fields[index + 1] ?? "";
    const path = isMoved ? (fields[index + 2] ?? "") : first;
    files.push({
      sha: letter === "D" ? before : after,
      path,
      previousPath: isMoved ? first : null,
      status: STATUS[letter],
    });
    index += isMoved ? 3 : 2;
  }
  return files;
}

function parseCounts(text: string): Pick<DiffFile, "additions" | "deletions">[] {
  const fields = text.split("\0").filter((field) => field !== "");
  const counts: Pick<DiffFile, "additions" | "deletions">[] = [];
  for (let index = 0; index < fields.length;) {
    const [added = "", deleted = "", path = ""] = (fields[index] ?? "").split("\t");
    counts.push({ additions: Number(added) || 0, deletions: Number(deleted) || 0 });
    // The two names of a rename are separate fields.
    index += path === "" ? 3 : 1;
  }
  return counts;
}

export interface ChangeCounts {
  readonly commits: number;
  readonly additions: number;
  readonly deletions: number;
  readonly changedFiles: number;
}

/** The size of the change from the merge base to `head`. */
export const changeCounts = cached(async (repo, base, head): Promise<ChangeCounts> => {
  const [{ aheadBy }, common] = await Promise.all([
    aheadBehind(repo, base, head),
    mergeBase(repo, base, head),
  ]);
  const stat = await repo.text(["diff-tree", "-r", "-M", "--shortstat", common ?? EMPTY_TREE, head]);
  const number = (pattern: RegExp) => Number(pattern.exec(stat)?.[1] ?? 0);
  return {
    commits: aheadBy,
    changedFiles: number(/(\d+) files? changed/),
    additions: number(/(\d+) insertions?/),
    deletions: number(/(\d+) deletions?/),
  };
});
