import { z } from "zod";
import { conflict } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import {
  listReleaseBranches,
  planReleaseBranch,
  replanReleaseBranch,
  removeAllReleaseBranches,
  removeReleaseBranches,
  setReleaseBranchHead,
  type ReleaseBranch,
} from "../../store/releases/release-branches.ts";
import { markFrozen, markUnfrozen, type ReleaseHead } from "../../store/releases/releases.ts";
import { listProjectRepositories, type Repository } from "../../store/forge/repositories.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { createBranchFrom } from "../moves/card-branch.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import {
  operateOnRelease,
  recordIfOwned,
  requireOwned,
  unusableMessage,
  saveOperationProgress,
  type ReleaseContext,
  type ReleaseOutcome,
} from "./release-operation.ts";
import { recordRelease } from "./releases.ts";

/**
 * Freezes a release: fixes its scope and creates `release/{slug}` in every repository of its
 * project, from the target of the flow's first merge stage. Freezing again creates missing
 * branches. If GitHub refuses one, a first freeze removes its branches; a later one keeps those that it
 * created. Returns the release.
 */
export const freezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredResponse> =>
  operateOnRelease(deps, write, release, { kind: "freeze", input: {} }, runFreeze, lacksBranches);

async function lacksBranches(trx: Trx, release: ReleaseHead): Promise<boolean> {
  if (!release.frozenAt) return true;
  const existing = await repositoriesWithBranch(trx, release);
  const repositories = await listProjectRepositories(trx, release.projectId);
  return repositories.some(({ id }) => !existing.has(id));
}

async function repositoriesWithBranch(db: Db, { id }: ReleaseHead): Promise<Set<string>> {
  const branches = await listReleaseBranches(db, id);
  return new Set(branches.filter(({ headSha }) => headSha !== null).map(({ repositoryId }) => repositoryId));
}

/** `refused` is set while the freeze is being undone. */
const freezeProgress = z.object({ refused: z.string().optional() });

export async function runFreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, project, operation } = context;
  const refused = freezeProgress.parse(operation.progress).refused ?? context.stop;
  if (refused !== null) return undo(deps, context, refused);
  const existing = await repositoriesWithBranch(deps.db, release);
  for (const repository of await listProjectRepositories(deps.db, project.id)) {
    if (existing.has(repository.id)) continue;
    const message = await createBranch(deps, context, repository);
    if (message === null) continue;
    await saveOperationProgress(deps, context, { refused: message });
    return undo(deps, context, message);
  }
  const by = { workspaceId: release.workspaceId, userId: operation.actorId };
  return {
    state: "done",
    record: async (trx) => {
      await markFrozen(trx, release.id);
      if (!release.frozenAt) await recordRelease(trx, by, release, { from: "open", to: "frozen" });
    },
  };
}

export const releaseBranchName = ({ slug }: Pick<ReleaseHead, "slug">): string => `release/${slug}`;

/** The branch from which the release's branch is created in a repository. */
export const startBranchOf = (
  { flow }: Pick<Project, "flow">,
  { defaultBranch }: Pick<Repository, "defaultBranch">,
): string => targetOf(flow, false) ?? defaultBranch;

/** Creates the release's branch in a repository. Null when it exists, else why it does not. */
async function createBranch(
  deps: Deps,
  context: ReleaseContext,
  repository: Repository,
): Promise<string | null> {
  const { release, project } = context;
  const { id: repositoryId, fullName, forgeRef } = repository;
  if (!forgeRef) return unusableMessage(repository);
  const branchName = releaseBranchName(release);
  const earlier = (await listReleaseBranches(deps.db, release.id)).find(
    (branch) => branch.repositoryId === repositoryId,
  );
  const target = startBranchOf(project, repository);
  const tip = await findTip(deps.db, { repositoryId, branchName: target });
  const sha = earlier?.startSha ?? tip ?? (await deps.forge.branchHead(forgeRef, target));
  if (sha === null) return `${fullName} has no branch ${target} to create ${branchName} from.`;
  const branch = { releaseId: release.id, repositoryId, branchName };
  const plan = { ...branch, startSha: sha };
  let startSha = await recordIfOwned(deps, context, (trx) => planReleaseBranch(trx, plan));
  const request = { branchName, sha: startSha, targetBranch: target };
  const created = await createBranchFrom(deps, forgeRef, request, async (newSha) => {
    await recordIfOwned(deps, context, (trx) => replanReleaseBranch(trx, { ...branch, startSha: newSha }));
    startSha = newSha;
  });
  if (!created.ok) return `${fullName}: ${created.refusal.message}`;
  // Also if an earlier attempt may have created it: a tag must not get the work of a foreign branch.
  if (created.value.isAtOtherCommit) {
    return `${fullName} has a branch ${branchName} already, at another commit. Delete or rename it, then freeze again.`;
  }
  await recordIfOwned(deps, context, (trx) => setReleaseBranchHead(trx, release.id, repositoryId, startSha));
  return null;
}

/** Removes the branches of a first freeze that have no pushes. A later freeze keeps what exists. */
async function undo(deps: Deps, context: ReleaseContext, message: string): Promise<ReleaseOutcome> {
  const { release } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const undone = branches.filter((branch) => !release.frozenAt || branch.headSha === null);
  const kept: string[] = [];
  for (const { forgeRef, branchName, headSha, startSha, fullName } of undone) {
    if (headSha === null) continue;
    await requireOwned(deps, context);
    const deleted = forgeRef && (await deps.forge.deleteBranch(forgeRef, branchName, startSha));
    if (!deleted?.ok || "moved" in deleted.value) kept.push(fullName);
  }
  const ids = undone.map(({ repositoryId }) => repositoryId);
  return {
    state: "refused",
    message: kept.length === 0 ? message : `${message} ${keptMessage(release, kept)}`,
    record: (trx) => removeReleaseBranches(trx, release.id, ids),
  };
}

const keptMessage = (release: ReleaseHead, repositories: readonly string[]): string =>
  `The branch ${releaseBranchName(release)} stays in ${repositories.join(", ")}: somebody pushed to it, or GitHub did not delete it.`;

/**
 * Unfreezes a release: removes all of its branches, or none. Throws `conflict` if a branch has
 * picked or pushed commits. Returns the release.
 */
export const unfreezeRelease = (deps: Deps, write: Write, release: ReleaseHead): Promise<StoredResponse> =>
  operateOnRelease(deps, write, release, { kind: "unfreeze", input: {} }, runUnfreeze, hasBranches);

async function hasBranches(trx: Trx, release: ReleaseHead): Promise<boolean> {
  const branches = await listReleaseBranches(trx, release.id);
  const refusal = unfreezeRefusal(branches);
  if (refusal !== null) throw conflict(refusal);
  return release.frozenAt !== null || branches.length > 0;
}

/** Why a release with these branches cannot be unfrozen, without reading GitHub: null if nothing is known. */
export function unfreezeRefusal(branches: readonly ReleaseBranch[]): string | null {
  const picked = branches.find(({ headSha, startSha }) => headSha !== null && headSha !== startSha);
  return picked ? notRemovableMessage(picked) : null;
}

const notRemovableMessage = ({ branchName, fullName }: ReleaseBranch): string =>
  `The branch ${branchName} in ${fullName} has commits that were picked or pushed onto it, so it is not removed. The release stays frozen.`;

/**
 * Set before the first branch is removed. If it is set, this operation removed the missing branches.
 */
const unfreezeProgress = z.object({ isRemoving: z.boolean().default(false) });

export async function runUnfreeze(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, operation } = context;
  const branches = await listReleaseBranches(deps.db, release.id);
  const { isRemoving } = unfreezeProgress.parse(operation.progress);
  const obstacle = context.stop ?? (await findObstacle(deps, branches));
  if (obstacle !== null) return restore(deps, context, branches, obstacle, isRemoving);
  await saveOperationProgress(deps, context, { isRemoving: true });
  for (const branch of branches) {
    if (!branch.forgeRef) continue;
    await requireOwned(deps, context);
    const deleted = await deps.forge.deleteBranch(branch.forgeRef, branch.branchName, branch.startSha);
    if (!deleted.ok) {
      return restore(deps, context, branches, `${branch.fullName}: ${deleted.refusal.message}`, true);
    }
    if ("moved" in deleted.value) return restore(deps, context, branches, notRemovableMessage(branch), true);
  }
  return {
    state: "done",
    record: async (trx) => {
      await removeAllReleaseBranches(trx, release.id);
      await markUnfrozen(trx, release.id);
      const by = { workspaceId: release.workspaceId, userId: context.operation.actorId };
      await recordRelease(trx, by, release, { from: "frozen", to: "open" });
    },
  };
}

/** Why the branches cannot all be removed, or null. */
async function findObstacle(deps: Deps, branches: readonly ReleaseBranch[]): Promise<string | null> {
  for (const branch of branches) {
    if (!branch.forgeRef) return unusableMessage(branch);
    const head = await deps.forge.branchHead(branch.forgeRef, branch.branchName);
    if (head !== null && head !== branch.startSha) return notRemovableMessage(branch);
  }
  return null;
}

/** Creates removed branches again. */
async function restore(
  deps: Deps,
  context: ReleaseContext,
  branches: readonly ReleaseBranch[],
  message: string,
  isRemoving: boolean,
): Promise<ReleaseOutcome> {
  for (const { forgeRef, branchName, startSha } of isRemoving ? branches : []) {
    if (!forgeRef) continue;
    await requireOwned(deps, context);
    await deps.forge.createBranch(forgeRef, branchName, startSha);
  }
  return { state: "refused", message };
}
