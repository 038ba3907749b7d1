import { z } from "zod";
import { targetOf } from "../../flow/flow.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { listReleaseBranches } from "../../store/releases/release-branches.ts";
import { listReleaseTags, saveReleaseTag } from "../../store/releases/releases.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { findTip } from "../../store/forge/trunks.ts";
import type { Deps } from "../deps.ts";
import { notInstalled, recordAsOurs, requireOurs, type ReleaseContext } from "./release-action.ts";

/** A commit that a repository gets a tag at. */
export const plannedTag = z.object({ repositoryId: z.string(), tagName: z.string(), sha: z.string() });
export type PlannedTag = z.infer<typeof plannedTag>;

interface Refused {
  readonly message: string;
}

interface Wanted {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly repository: RepositoryRef;
  readonly tagName: string;
  /** The branch whose tip is to be tagged. */
  readonly branchName: string;
}

/** The input of `planTags`. */
interface Planning {
  readonly versions: readonly Pick<PlannedTag, "repositoryId" | "tagName">[];
  readonly repositories: ReadonlyMap<string, Repository>;
  /** The tag that an earlier try may have written without an inspection. */
  readonly tried: PlannedTag | undefined;
  /** Saves such a try before it is made. */
  readonly onTry: (tried: PlannedTag) => Promise<void>;
}

/**
 * The commits to tag, or the first refusal: all are inspected before the first tag is written. A
 * single tag at a known tip needs no inspection: the forge writes it only if the branch is still at
 * this commit and the tag does not exist.
 */
export async function planTags(
  deps: Deps,
  context: ReleaseContext,
  planning: Planning,
): Promise<PlannedTag[] | Refused> {
  const { versions, onTry } = planning;
  const written = await listReleaseTags(deps.db, context.release.id);
  const shas = new Map(written.map(({ repositoryId, sha }) => [repositoryId, sha]));
  const planned = (): PlannedTag[] =>
    versions.map((version) => ({ ...version, sha: shas.get(version.repositoryId) ?? "" }));
  const left = versions.filter(({ repositoryId }) => !shas.has(repositoryId));
  const wanted = await branchesToTag(deps, context, planning.repositories, left);
  if ("message" in wanted) return wanted;
  let { tried } = planning;
  const [only] = wanted;
  const heard = !tried && only && wanted.length === 1 ? await heardTip(deps, context, only) : null;
  if (only && heard !== null) {
    const { repositoryId, tagName, repository, branchName } = only;
    tried = { repositoryId, tagName, sha: heard };
    await onTry(tried);
    await requireOurs(deps, context);
    if (await deps.forge.tagTip(repository, { branchName, tagName, sha: heard })) {
      const tag = { ...tried, url: null };
      await recordAsOurs(deps, context, (trx) => saveReleaseTag(trx, context.release.id, tag));
      shas.set(repositoryId, heard);
      return planned();
    }
  }
  const found = await look(deps, wanted, tried);
  if ("message" in found) return found;
  for (const { repositoryId, sha } of found) shas.set(repositoryId, sha);
  return planned();
}

/** The branches whose tips get the tags that are not written yet. */
async function branchesToTag(
  deps: Deps,
  { release, project }: ReleaseContext,
  repositories: ReadonlyMap<string, Repository>,
  versions: Planning["versions"],
): Promise<Wanted[] | Refused> {
  const branches = await listReleaseBranches(deps.db, release.id);
  const wanted: Wanted[] = [];
  for (const { repositoryId, tagName } of versions) {
    const known = repositories.get(repositoryId);
    if (!known?.ref) return { message: notInstalled(known) };
    const { fullName, ref: repository, defaultBranch } = known;
    const cut = branches.find((branch) => branch.repositoryId === repositoryId);
    const branchName = release.frozenAt ? cut?.branchName : (targetOf(project.flow, true) ?? defaultBranch);
    if (branchName === undefined) return { message: `${fullName} has no branch of the release to tag.` };
    wanted.push({ repositoryId, fullName, repository, tagName, branchName });
  }
  return wanted;
}

/** The last known tip of a branch, from a push or from our own write; null if unknown. */
async function heardTip(
  deps: Deps,
  { release }: ReleaseContext,
  { repositoryId, branchName }: Wanted,
): Promise<string | null> {
  if (!release.frozenAt) return findTip(deps.db, { repositoryId, branchName });
  const branches = await listReleaseBranches(deps.db, release.id);
  return branches.find((branch) => branch.repositoryId === repositoryId)?.headSha ?? null;
}

async function look(
  deps: Deps,
  wanted: readonly Wanted[],
  tried: PlannedTag | undefined,
): Promise<PlannedTag[] | Refused> {
  const answers = wanted.length === 0 ? [] : await deps.forge.lookBeforeTagging(wanted);
  const planned: PlannedTag[] = [];
  for (const [at, { repositoryId, fullName, branchName, tagName }] of wanted.entries()) {
    const found = answers[at];
    if (!found) throw new Error("a question without an answer");
    if (found.refusal) return { message: `${fullName}: ${found.refusal.message}` };
    const { branchSha, tagSha } = found;
    const isTried = tagSha !== null && tried?.repositoryId === repositoryId && tried.sha === tagSha;
    const sha = isTried ? tagSha : branchSha;
    if (sha === null) return { message: `${fullName} has no branch ${branchName} to tag.` };
    if (tagSha !== null && tagSha !== sha) return { message: taken(fullName, tagName) };
    planned.push({ repositoryId, tagName, sha });
  }
  return planned;
}

/** For a tag that exists at another commit. */
export const taken = (fullName: string, tagName: string): string =>
  `${fullName} has a tag ${tagName} already, at another commit. Choose another name.`;
