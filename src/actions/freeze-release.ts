import { z } from "zod";
import { targetOf } from "../flow/flow.ts";
import type { Db, Trx } from "../store/db/connect.ts";
import {
  listReleaseBranches,
  planReleaseBranch,
  planReleaseBranchAnew,
  removeReleaseBranches,
  setReleaseBranchHead,
  type ReleaseBranch,
} from "../store/releases/release-branches.ts";
import { saveProgress } from "../store/releases/release-actions.ts";
import { freezeScope, type ReleaseHead } from "../store/releases/releases.ts";
import { listProjectRepositories, type Repository } from "../store/forge/repositories.ts";
import { findTip } from "../store/forge/trunks.ts";
import { underWay } from "./begin-release-action.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { cutBranch } from "./cut-branch.ts";
import type { Deps } from "./deps.ts";
import {
  actOnRelease,
  recordAsOurs,
  requireOurs,
  type ReleaseContext,
  type ReleaseOutcome,
} from "./release-action.ts";

/**
 * Freezes a release: its scope stands still, and `release/{slug}` is cut in every repository of its project, from the target of the flow's
 * first merge stage. Frozen again, it gets the branches that are missing. When a repository refuses, what was cut is removed again. Answers
 * with the release.
 */
export const freezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredAnswer> =>
  actOnRelease(deps, write, release, { kind: "freeze", input: {} }, carryOutFreeze, {
    isNeeded: lacksBranches,
  });

async function lacksBranches(trx: Trx, release: ReleaseHead): Promise<boolean> {
  if (!release.frozenAt) return true;
  const cut = await cutIn(trx, release);
  const repositories = await listProjectRepositories(trx, release.projectId);
  return repositories.some(({ id }) => !cut.has(id));
}

/** The repositories in which the release has its branch. */
async function cutIn(db: Db, { id }: ReleaseHead): Promise<Set<string>> {
  const branches = await listReleaseBranches(db, id);
  return new Set(branches.filter(({ headSha }) => headSha !== null).map(({ repositoryId }) => repositoryId));
}

/** Why it is being undone, where it is. */
const progressOf = z.object({ refused: z.string().optional() });

export async function carryOutFreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, project, action } = context;
  const { refused } = progressOf.parse(action.progress);
  if (refused !== undefined) return undo(deps, context, refused);
  const done = await cutIn(deps.db, release);
  for (const repository of await listProjectRepositories(deps.db, project.id)) {
    if (done.has(repository.id)) continue;
    const message = await cut(deps, context, repository);
    if (message === null) continue;
    if (!(await saveProgress(deps.db, action, { refused: message }))) throw underWay(release, action);
    return undo(deps, context, message);
  }
  return { state: "done", record: (trx) => freezeScope(trx, release.id) };
}

/** Cuts the release's branch in a repository; null when it is there, else what stands in the way. */
async function cut(deps: Deps, context: ReleaseContext, repository: Repository): Promise<string | null> {
  const { release, project } = context;
  const { id: repositoryId, fullName, ref } = repository;
  if (!ref) return `The App is not installed on the account of ${fullName} any more. Install it again.`;
  const branchName = `release/${release.slug}`;
  const earlier = (await listReleaseBranches(deps.db, release.id)).find(
    (branch) => branch.repositoryId === repositoryId,
  );
  const target = targetOf(project.flow, false) ?? repository.defaultBranch;
  const heard = await findTip(deps.db, { repositoryId, branchName: target });
  const head = earlier?.cutSha ?? heard ?? (await deps.forge.branchHead(ref, target));
  if (head === null) return `${fullName} has no branch ${target} to cut ${branchName} from.`;
  const branch = { releaseId: release.id, repositoryId, branchName };
  const planned = { ...branch, cutSha: head };
  let cutSha = await recordAsOurs(deps, context, (trx) => planReleaseBranch(trx, planned));
  const created = await cutBranch(
    deps,
    ref,
    { branchName, sha: cutSha, targetBranch: target },
    async (sha) => {
      const anew = { ...branch, cutSha: sha };
      await recordAsOurs(deps, context, (trx) => planReleaseBranchAnew(trx, anew));
      cutSha = sha;
    },
  );
  if (!created.ok) return `${fullName}: ${created.refusal.message}`;
  // Taken by a try of ours whose answer never came: somebody has pushed to it since, the branch is still the release's.
  if (created.value.isTaken && !earlier) {
    return `${fullName} has a branch ${branchName} already, at another commit. Delete or rename it, then freeze again.`;
  }
  await recordAsOurs(deps, context, (trx) => setReleaseBranchHead(trx, release.id, repositoryId, cutSha));
  return null;
}

/** Removes what this freeze has cut, as far as nobody pushed to it. A release frozen before keeps its branches. */
async function undo(deps: Deps, context: ReleaseContext, message: string): Promise<ReleaseOutcome> {
  const { release } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const undone = branches.filter((branch) => !release.frozenAt || branch.headSha === null);
  for (const branch of undone) {
    if (branch.headSha !== null) await remove(deps, context, branch);
  }
  const repositoryIds = undone.map(({ repositoryId }) => repositoryId);
  return {
    state: "refused",
    message,
    record: (trx) => removeReleaseBranches(trx, release.id, repositoryIds),
  };
}

async function remove(
  deps: Deps,
  context: ReleaseContext,
  { ref, branchName, cutSha }: ReleaseBranch,
): Promise<void> {
  if (!ref) return;
  await requireOurs(deps, context);
  await deps.forge.deleteBranch(ref, branchName, cutSha);
}
