import { z } from "zod";
import { targetOf } from "../../flow/flow.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { listReleaseBranches } from "../../store/releases/release-branches.ts";
import type { Project } from "../../store/cards/projects.ts";
import {
  listReleaseTags,
  saveReleaseTag,
  type ReleaseHead,
  type WrittenTag,
} from "../../store/releases/releases.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { findTip } from "../../store/forge/trunks.ts";
import type { Deps } from "../deps.ts";
import { unusableMessage, recordIfOwned, requireOwned, type ReleaseContext } from "./release-operation.ts";

export const plannedTag = z.object({ repositoryId: z.string(), tagName: z.string(), sha: z.string() });
export type PlannedTag = z.infer<typeof plannedTag>;

type TagOf = Pick<PlannedTag, "repositoryId" | "tagName">;

/** Whether a list has the same tag of the same repository. */
export const isIn = (tags: readonly TagOf[], { repositoryId, tagName }: TagOf): boolean =>
  tags.some((tag) => tag.repositoryId === repositoryId && tag.tagName === tagName);

/** The tags written so far that are still wanted. Others stay on GitHub and are replaced here. */
export async function writtenTags(
  deps: Deps,
  { release }: ReleaseContext,
  wanted: readonly TagOf[],
): Promise<WrittenTag[]> {
  return (await listReleaseTags(deps.db, release.id)).filter((tag) => isIn(wanted, tag));
}

export interface Refused {
  readonly message: string;
}

interface TagRequest {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly repository: RepositoryRef;
  readonly tagName: string;
  /** The branch whose tip gets the tag. */
  readonly branchName: string;
}

interface Planning {
  readonly versions: readonly TagOf[];
  /** The plan of an earlier attempt for some of the versions. */
  readonly earlier: readonly PlannedTag[];
  readonly repositories: ReadonlyMap<string, Repository>;
  /** A tag that an earlier attempt may have written without an inspection. */
  readonly tried: PlannedTag | undefined;
  /** Saves such a tag before it is written. */
  readonly onTry: (tried: PlannedTag) => Promise<void>;
}

/**
 * Plans the commits to tag, or returns the first refusal; inspects all repositories before the
 * first tag. Writes a single tag at a known tip without an inspection: GitHub writes it only if the
 * branch is still at this commit and the tag does not exist.
 */
export async function planOrWriteTags(
  deps: Deps,
  context: ReleaseContext,
  planning: Planning,
): Promise<PlannedTag[] | Refused> {
  const { versions, earlier, onTry } = planning;
  const known = [...earlier, ...(await writtenTags(deps, context, versions))];
  const shas = new Map(known.map(({ repositoryId, sha }) => [repositoryId, sha]));
  const plannedTags = (): PlannedTag[] =>
    versions.map(({ repositoryId, tagName }) => ({
      repositoryId,
      tagName,
      sha: shas.get(repositoryId) ?? "",
    }));
  const left = versions.filter(({ repositoryId }) => !shas.has(repositoryId));
  const toTag = await branchesToTag(deps, context, planning.repositories, left);
  if ("message" in toTag) return toTag;
  let { tried } = planning;
  const [only] = toTag;
  const sha = !tried && only && toTag.length === 1 ? await knownTip(deps, context, only) : null;
  if (only && sha !== null) {
    const { repositoryId, tagName, repository, branchName } = only;
    tried = { repositoryId, tagName, sha };
    await onTry(tried);
    await requireOwned(deps, context);
    if (await deps.forge.tagBranchTip(repository, { branchName, tagName, sha })) {
      const tag = { ...tried, publishedAs: null, url: null };
      await recordIfOwned(deps, context, (trx) => saveReleaseTag(trx, context.release.id, tag));
      shas.set(repositoryId, sha);
      return plannedTags();
    }
  }
  const found = await inspect(deps, toTag, tried);
  if ("message" in found) return found;
  for (const { repositoryId, sha } of found) shas.set(repositoryId, sha);
  return plannedTags();
}

async function branchesToTag(
  deps: Deps,
  { release, project }: ReleaseContext,
  repositories: ReadonlyMap<string, Repository>,
  versions: Planning["versions"],
): Promise<TagRequest[] | Refused> {
  const branches = await listReleaseBranches(deps.db, release.id);
  const toTag: TagRequest[] = [];
  for (const { repositoryId, tagName } of versions) {
    const known = repositories.get(repositoryId);
    if (!known?.forgeRef) return { message: unusableMessage(known) };
    const { fullName, forgeRef: repository } = known;
    const ofRelease = branches.find((branch) => branch.repositoryId === repositoryId)?.branchName;
    const branchName = branchToTag(release, project, known, ofRelease ?? null);
    if (branchName === null) return { message: `${fullName} has no branch of the release to tag.` };
    toTag.push({ repositoryId, fullName, repository, tagName, branchName });
  }
  return toTag;
}

/** The branch of a repository whose tip gets the tag; null if a frozen release has no branch there. */
export const branchToTag = (
  { frozenAt }: Pick<ReleaseHead, "frozenAt">,
  { flow }: Pick<Project, "flow">,
  { defaultBranch }: Pick<Repository, "defaultBranch">,
  ofRelease: string | null,
): string | null => (frozenAt ? ofRelease : (targetOf(flow, true) ?? defaultBranch));

/** The last known tip of a branch, from a push or from our own write. */
async function knownTip(
  deps: Deps,
  { release }: ReleaseContext,
  { repositoryId, branchName }: TagRequest,
): Promise<string | null> {
  if (!release.frozenAt) return findTip(deps.db, { repositoryId, branchName });
  const branches = await listReleaseBranches(deps.db, release.id);
  return branches.find((branch) => branch.repositoryId === repositoryId)?.headSha ?? null;
}

async function inspect(
  deps: Deps,
  toTag: readonly TagRequest[],
  tried: PlannedTag | undefined,
): Promise<PlannedTag[] | Refused> {
  const inspections = toTag.length === 0 ? [] : await deps.forge.inspectTags(toTag);
  const planned: PlannedTag[] = [];
  for (const [at, { repositoryId, fullName, branchName, tagName }] of toTag.entries()) {
    const found = inspections[at];
    if (!found) throw new Error("GitHub did not return a repository");
    if (found.refusal) return { message: `${fullName}: ${found.refusal.message}` };
    const { branchSha, tagSha } = found;
    const isTried = tagSha !== null && tried?.repositoryId === repositoryId && tried.sha === tagSha;
    const sha = isTried ? tagSha : branchSha;
    if (sha === null) return { message: `${fullName} has no branch ${branchName} to tag.` };
    if (tagSha !== null && tagSha !== sha) return { message: tagTakenMessage(fullName, tagName) };
    planned.push({ repositoryId, tagName, sha });
  }
  return planned;
}

export const tagTakenMessage = (fullName: string, tagName: string): string =>
  `${fullName} has a tag ${tagName} already, at another commit. Choose another name.`;
