import { z } from "zod";
import { conflict } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredAnswer } from "../../store/ops/idempotency.ts";
import {
  listReleaseBranches,
  planReleaseBranch,
  planReleaseBranchAnew,
  removeReleaseBranches,
  setReleaseBranchHead,
  type ReleaseBranch,
} from "../../store/releases/release-branches.ts";
import { freezeScope, unfreezeScope, type ReleaseHead } from "../../store/releases/releases.ts";
import { listProjectRepositories, type Repository } from "../../store/forge/repositories.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { cutBranch } from "../moves/card-branch.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import {
  actOnRelease,
  recordAsOurs,
  requireOurs,
  notInstalled,
  recordProgress,
  type ReleaseContext,
  type ReleaseOutcome,
} from "./release-action.ts";

/**
 * Freezes a release: its scope cannot change any more, and `release/{slug}` is cut in every
 * repository of its project, from the target of the flow's first merge stage. Freezing again cuts
 * the missing branches. When a repository refuses, the new branches are removed. Answers with the
 * release.
 */
export const freezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredAnswer> =>
  actOnRelease(deps, write, release, { kind: "freeze", input: {} }, carryOutFreeze, lacksBranches);

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

/** Why the freeze is being undone; absent while it is not. */
const freezeProgress = z.object({ refused: z.string().optional() });

export async function carryOutFreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, project, action } = context;
  const { refused } = freezeProgress.parse(action.progress);
  if (refused !== undefined) return undo(deps, context, refused);
  const done = await cutIn(deps.db, release);
  for (const repository of await listProjectRepositories(deps.db, project.id)) {
    if (done.has(repository.id)) continue;
    const message = await cut(deps, context, repository);
    if (message === null) continue;
    await recordProgress(deps, context, { refused: message });
    return undo(deps, context, message);
  }
  return { state: "done", record: (trx) => freezeScope(trx, release.id) };
}

/** Cuts the release's branch in a repository. Null when it exists, else the reason. */
async function cut(deps: Deps, context: ReleaseContext, repository: Repository): Promise<string | null> {
  const { release, project } = context;
  const { id: repositoryId, fullName, ref } = repository;
  if (!ref) return notInstalled(repository);
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
  // An earlier try has cut this branch, and somebody has pushed to it since: it is the release's.
  if (created.value.isTaken && !earlier) {
    return `${fullName} has a branch ${branchName} already, at another commit. Delete or rename it, then freeze again.`;
  }
  await recordAsOurs(deps, context, (trx) => setReleaseBranchHead(trx, release.id, repositoryId, cutSha));
  return null;
}

/** Removes the branches of this freeze that nobody pushed to; those of an earlier freeze stay. */
async function undo(deps: Deps, context: ReleaseContext, message: string): Promise<ReleaseOutcome> {
  const { release } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const undone = branches.filter((branch) => !release.frozenAt || branch.headSha === null);
  for (const { ref, branchName, headSha, cutSha } of undone) {
    if (headSha === null || !ref) continue;
    await requireOurs(deps, context);
    await deps.forge.deleteBranch(ref, branchName, cutSha);
  }
  const repositoryIds = undone.map(({ repositoryId }) => repositoryId);
  return {
    state: "refused",
    message,
    record: (trx) => removeReleaseBranches(trx, release.id, repositoryIds),
  };
}

/**
 * Unfreezes a release: removes all of its branches, or none. Throws `conflict` when a branch has
 * picked or pushed commits. Answers with the release; one that is not frozen stays as it is.
 */
export const unfreezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredAnswer> =>
  actOnRelease(deps, write, release, { kind: "unfreeze", input: {} }, carryOutUnfreeze, hasBranches);

async function hasBranches(trx: Trx, release: ReleaseHead): Promise<boolean> {
  const branches = await listReleaseBranches(trx, release.id);
  const picked = branches.find(({ headSha, cutSha }) => headSha !== null && headSha !== cutSha);
  if (picked) throw conflict(hasMore(picked));
  return release.frozenAt !== null || branches.length > 0;
}

const hasMore = ({ branchName, fullName }: ReleaseBranch): string =>
  `The branch ${branchName} in ${fullName} has commits that were picked or pushed onto it, so it is not removed. The release stays frozen.`;

/** Whether the removal has begun: branches missing from then on are removed by this action. */
const unfreezeProgress = z.object({ isRemoving: z.boolean().default(false) });

export async function carryOutUnfreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, action } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const moved = await findMoved(deps, branches);
  if (moved)
    return putBack(deps, context, branches, moved, unfreezeProgress.parse(action.progress).isRemoving);
  await recordProgress(deps, context, { isRemoving: true });
  for (const branch of branches) {
    if (!branch.ref) continue;
    await requireOurs(deps, context);
    const deleted = await deps.forge.deleteBranch(branch.ref, branch.branchName, branch.cutSha);
    if (!deleted.ok) {
      return putBack(deps, context, branches, `${branch.fullName}: ${deleted.refusal.message}`, true);
    }
    if ("moved" in deleted.value) return putBack(deps, context, branches, hasMore(branch), true);
  }
  return {
    state: "done",
    record: async (trx) => {
      const repositoryIds = branches.map(({ repositoryId }) => repositoryId);
      await removeReleaseBranches(trx, release.id, repositoryIds);
      await unfreezeScope(trx, release.id);
    },
  };
}

/** Why the branches cannot all be removed, or null. */
async function findMoved(deps: Deps, branches: readonly ReleaseBranch[]): Promise<string | null> {
  for (const branch of branches) {
    if (!branch.ref) return notInstalled(branch);
    const head = await deps.forge.branchHead(branch.ref, branch.branchName);
    if (head !== null && head !== branch.cutSha) return hasMore(branch);
  }
  return null;
}

/** Restores the branches: those already removed are cut again. */
async function putBack(
  deps: Deps,
  context: ReleaseContext,
  branches: readonly ReleaseBranch[],
  message: string,
  isRemoving: boolean,
): Promise<ReleaseOutcome> {
  for (const { ref, branchName, cutSha } of isRemoving ? branches : []) {
    if (!ref) continue;
    await requireOurs(deps, context);
    await deps.forge.createBranch(ref, branchName, cutSha);
  }
  return { state: "refused", message };
}
