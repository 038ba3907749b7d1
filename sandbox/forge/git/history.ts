import { needCommit, readCommit, readCommits, type Commit } from "./commits.ts";
import { type GitRepository, cached } from "./git.ts";

/** The commits of `to` that are not in `from`, oldest first. */
export async function commitsBetween(
  repo: GitRepository,
  from: string,
  to: string,
  limit = 10_000,
): Promise<Commit[]> {
  const shas = await shasBetween(repo, from, to);
  return readCommits(repo, shas.slice(0, limit));
}

const shasBetween = cached(async (repo, from, to): Promise<readonly string[]> => {
  return lines(await repo.text(["rev-list", "--topo-order", "--reverse", `${from}..${to}`, "--"]));
});

export const aheadBehind = cached(async (repo, base, head) => {
  if (base === head) return { aheadBy: 0, behindBy: 0 };
  const text = await repo.text(["rev-list", "--left-right", "--count", `${base}...${head}`, "--"]);
  const [behindBy = 0, aheadBy = 0] = text.split(/\s+/).map(Number);
  return { aheadBy, behindBy };
});

/** The best common ancestor; null for unrelated histories. */
export const mergeBase = cached(async (repo, one, other) => {
  if (one === other) return one;
  const { code, stdout } = await repo.run(["merge-base", one, other], { codes: [1] });
  return code === 0 ? stdout.toString("utf8").slice(0, 40) : null;
});

/** Whether `ancestor` is reachable from `descendant`, or is the same commit. */
export const isAncestor = cached(async (repo, ancestor, descendant) => {
  if (ancestor === descendant) return true;
  // The common case, parent and child, needs no process.
  if ((await readCommit(repo, descendant))?.parents.includes(ancestor) === true) return true;
  const { code } = await repo.run(["merge-base", "--is-ancestor", ancestor, descendant], { codes: [1] });
  return code === 0;
});

interface LogPage {
  readonly skip: number;
  readonly count: number;
  readonly path?: string | undefined;
  readonly author?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** One page of the history of a commit, newest first. */
export async function log(repo: GitRepository, from: string, page: LogPage): Promise<Commit[]> {
  const args = ["rev-list", `--skip=${page.skip}`, `--max-count=${page.count}`];
  if (page.author !== undefined) args.push("--fixed-strings", `--author=${page.author}`);
  if (page.since !== undefined) args.push(`--since=${page.since}`);
  if (page.until !== undefined) args.push(`--until=${page.until}`);
  const paths = page.path === undefined ? [] : [page.path];
  return readCommits(repo, lines(await repo.text([...args, from, "--", ...paths])));
}

interface PushedCommit {
  readonly commit: Commit;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
  /** On no other branch. */
  readonly distinct: boolean;
}

/** GitHub's limit for the commits of a push event. */
const MAX_PUSHED = 2_048;

/** The commits in `after` but not in `before` (null: not in any other branch), oldest first. */
export async function pushedCommits(
  repo: GitRepository,
  branch: string,
  before: string | null,
  after: string,
): Promise<PushedCommit[]> {
  const old = before === null ? [] : [`^${before}`];
  const others = ["--not", `--exclude=${branch}`, "--glob=refs/heads/*"];
  const distinct = new Set(lines(await repo.text(["rev-list", after, ...old, ...others, "--"])));
  if (before === null && distinct.size === 0) return [];
  const shown = ["--no-renames", "--name-status", "--diff-merges=first-parent", "--format=%x01%H"];
  const range = [`--max-count=${MAX_PUSHED}`, after, ...(before === null ? others : old)];
  const text = await repo.text(["log", "-z", "--topo-order", ...shown, ...range, "--"]);
  const found = text.split("\x01").slice(1).toReversed();
  return Promise.all(
    found.map(async (part) => {
      const [sha = "", ...fields] = part.split("\0").map((field) => field.replace(/^\n/, ""));
      const commit = await needCommit(repo, sha);
      return { commit, ...touchedPaths(fields), distinct: distinct.has(sha) };
    }),
  );
}

/** Parses git's pairs of status letter and path. */
function touchedPaths(fields: readonly string[]): Pick<PushedCommit, "added" | "removed" | "modified"> {
  const paths = { A: [] as string[], D: [] as string[], M: [] as string[] };
  const parts = fields.filter((field) => field !== "");
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const kind = parts[index];
    paths[kind === "A" || kind === "D" ? kind : "M"].push(parts[index + 1] ?? "");
  }
  return { added: paths.A, removed: paths.D, modified: paths.M };
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
