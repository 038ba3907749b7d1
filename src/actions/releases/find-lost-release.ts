import type { Repository } from "../../store/forge/repositories.ts";
import { listReleaseRepositories } from "../../store/releases/release-branches.ts";
import { listReleaseTags, saveReleaseTag } from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";
import { recordIfOwned, type ReleaseContext } from "./release-operation.ts";
import { refusalToChange, type Version } from "./release-versions.ts";

/**
 * The refusal of versions that would replace or change a GitHub release whose response was lost, or
 * null. Stores the URL of that release. Otherwise a repository would get a second GitHub release.
 */
export async function findLostRelease(
  deps: Deps,
  context: ReleaseContext,
  versions: readonly Version[],
  repositories: ReadonlyMap<string, Repository>,
): Promise<string | null> {
  const { id } = context.release;
  const ofProject = await listReleaseRepositories(deps.db, id);
  for (const tag of await listReleaseTags(deps.db, id)) {
    const mayBePublished = tag.publishedAs !== null && tag.url === null;
    const repository = repositories.get(tag.repositoryId);
    if (!mayBePublished || !repository?.forgeRef) continue;
    const refusal = refusalToChange(repository.fullName, tag, versions);
    if (refusal === null) continue;
    const url = await deps.forge.releaseUrl(repository.forgeRef, tag.tagName);
    if (url === null) continue;
    await recordIfOwned(deps, context, (trx) => saveReleaseTag(trx, id, { ...tag, url }));
    // A repository that has left the project keeps its GitHub release and gets no version.
    if (ofProject.some(({ repositoryId }) => repositoryId === tag.repositoryId)) return refusal;
  }
  return null;
}
