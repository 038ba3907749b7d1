import type { ForgeContext } from "../context.ts";
import { needCommit, type Signature } from "../git/commits.ts";
import { type GitRepository, cached } from "../git/git.ts";
import { commitTree, mergeTree, rebase } from "../git/merge.ts";
import { readRef, updateRef } from "../git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";
import { outcomesOf } from "../queries/commit-outcomes.ts";
import { unmetRule } from "./merge-rules.ts";
import { isBehind } from "./protection.ts";

type MergeableState = "clean" | "unstable" | "dirty" | "blocked" | "behind" | "draft" | "unknown";

export interface Mergeability {
  /** Null while it is being computed. */
  readonly mergeable: boolean | null;
  readonly state: MergeableState;
  /** The test merge commit, which `refs/pull/<number>/merge` points to. */
  readonly sha: string | null;
}

const UNKNOWN: Mergeability = { mergeable: null, state: "unknown", sha: null };
/** The author of GitHub's own commits. */
export const webFlow = (date: string): Signature => ({ name: "GitHub", email: "noreply@github.com", date });

export const cachedMergeTree = cached(mergeTree);

/** How often the mergeability was read since the commits of a pull request changed. */
const readCounts = new WeakMap<ForgeContext, Map<string, number>>();

/**
 * Whether a pull request can be merged. With `mergeabilityDelay` set, the first reads after each
 * change return "unknown", as on GitHub.
 */
export async function mergeabilityOf(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
): Promise<Mergeability> {
  if (pull.state === "closed") return { ...UNKNOWN, sha: pull.mergeCommitSha };
  const repo = forge.git.repository(repository.id);
  const baseTip = await readRef(repo, `refs/heads/${pull.baseRef}`);
  if (baseTip === null || isStillUnknown(forge, `${pull.id}:${baseTip}:${pull.headSha}`)) return UNKNOWN;
  const tried = await cachedMergeTree(repo, baseTip, pull.headSha);
  if ("conflicts" in tried) return { mergeable: false, state: "dirty", sha: null };
  const sha = await writeTestMerge(forge, repo, pull, baseTip, tried.tree);
  const state = await stateOf(forge, repository, pull, baseTip);
  return { mergeable: true, state, sha };
}

/** Whether the commits of an open pull request can be put on top of its target one after another. */
export async function canBeRebased(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
): Promise<boolean> {
  const repo = forge.git.repository(repository.id);
  const baseTip = pull.state === "open" ? await readRef(repo, `refs/heads/${pull.baseRef}`) : null;
  return baseTip !== null && (await cachedCanRebase(repo, baseTip, pull.headSha));
}

const cachedCanRebase = cached(
  async (repo, base, head) => "sha" in (await rebase(repo, base, head, webFlow(EPOCH))),
);
const EPOCH = "1970-01-01T00:00:00Z";

function isStillUnknown(forge: ForgeContext, key: string): boolean {
  const delay = forge.settings.mergeabilityDelay;
  if (delay <= 0) return false;
  const counts = readCounts.get(forge) ?? new Map<string, number>();
  readCounts.set(forge, counts);
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count <= delay;
}

async function stateOf(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  baseTip: string,
): Promise<MergeableState> {
  if (pull.draft) return "draft";
  if ((await unmetRule(forge, repository, pull, null)) !== null) return "blocked";
  if (await isBehind(forge, repository, pull, baseTip)) return "behind";
  const outcomes = outcomesOf(forge, repository.id, pull.headSha).map(({ outcome }) => outcome);
  return outcomes.includes("failing") || outcomes.includes("pending") ? "unstable" : "clean";
}

/** Writes the test merge commit unless `refs/pull/<number>/merge` already points to it. */
async function writeTestMerge(
  forge: ForgeContext,
  repo: GitRepository,
  pull: PullRequestRow,
  baseTip: string,
  tree: string,
): Promise<string> {
  const name = `refs/pull/${pull.number}/merge`;
  const known = await readRef(repo, name);
  const parents = known === null ? [] : (await needCommit(repo, known)).parents;
  if (known !== null && parents[0] === baseTip && parents[1] === pull.headSha) return known;
  const by = webFlow(forge.now());
  const message = `Merge ${pull.headSha} into ${baseTip}`;
  const commit = { tree, parents: [baseTip, pull.headSha], message, author: by, committer: by };
  const sha = await commitTree(repo, commit);
  await updateRef(repo, name, sha);
  return sha;
}
