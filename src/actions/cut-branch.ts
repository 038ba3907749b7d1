import type { Ordered, RepositoryRef } from "../forge/forge.ts";
import type { Deps } from "./deps.ts";

export interface Cut {
  readonly branchName: string;
  /** Where to cut it: the commit its target is at, or was last heard to be at. */
  readonly sha: string;
  readonly targetBranch: string;
}

/** The branch's commit, and whether it was there before, at another one than asked for. */
export type CutBranch = Ordered<{ readonly sha: string; readonly isTaken: boolean }>;

/**
 * Cuts a branch. Where the forge refuses a commit that its target is not at any more, it is cut where the target is now; `onMoved` writes that
 * down before. Throws `ForgeUnavailable`.
 */
export async function cutBranch(
  deps: Deps,
  repository: RepositoryRef,
  { branchName, sha, targetBranch }: Cut,
  onMoved: (sha: string) => Promise<void> = () => Promise.resolve(),
): Promise<CutBranch> {
  const cut = await cutAt(deps, repository, branchName, sha);
  if (cut.ok || (cut.refusal.reason !== "branch_missing" && cut.refusal.reason !== "unknown")) return cut;
  const tip = await deps.forge.branchHead(repository, targetBranch);
  if (tip === null || tip === sha) return cut;
  await onMoved(tip);
  return cutAt(deps, repository, branchName, tip);
}

async function cutAt(
  deps: Deps,
  repository: RepositoryRef,
  branchName: string,
  sha: string,
): Promise<CutBranch> {
  const created = await deps.forge.createBranch(repository, branchName, sha);
  if (!created.ok) return created;
  const isTaken = "taken" in created.value;
  return { ok: true, value: { sha: "taken" in created.value ? created.value.taken : sha, isTaken } };
}
