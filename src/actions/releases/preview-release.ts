import { requireFound } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import { findProject } from "../../store/cards/projects.ts";
import { nextVersion, releasedAs } from "../../flow/versions.ts";
import { listBoardRepositories } from "../../store/forge/repositories.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { listCardsOutside } from "../../store/releases/release-cards.ts";
import { listReleaseBranches, listReleaseRepositories } from "../../store/releases/release-branches.ts";
import {
  listReleasedCards,
  listReleaseTags,
  type ReleasedCard,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";
import { releaseBranchName, startBranchOf, unfreezeRefusal } from "./freeze.ts";
import { branchToTag } from "./plan-tags.ts";
import { readTagNames } from "./read-tag-names.ts";
import { missingCards, notesIn } from "./release-notes.ts";

/** What freezing and completing would do in a repository. */
interface RepositoryPreview {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly holdsCards: boolean;
  readonly freeze: { readonly branchName: string; readonly startsFrom: string };
  readonly complete: {
    readonly branchName: string | null;
    /** The last known tip of the branch; null if it is read from GitHub when the tag is written. */
    readonly sha: string | null;
    /** The tag that an earlier attempt has written. */
    readonly tagName: string | null;
    /** Whether that attempt has published its release, so that the tag cannot change. */
    readonly isPublished: boolean;
    /** The version after the highest tag; null for none, or if GitHub did not respond. */
    readonly suggestedTagName: string | null;
    /** How the release of the requested, written or suggested tag would be published; null if unknown. */
    readonly prerelease: boolean | null;
    readonly latest: boolean | null;
    readonly notes: string;
  };
}

/**
 * Previews the freeze and the completion of a release. Reads only the tags from GitHub, and works without
 * them. `requested`: the tags that the caller wants, by repository.
 */
export async function previewRelease(
  { db, forge, log }: Deps,
  release: ReleaseHead,
  requested: ReadonlyMap<string, string>,
): Promise<{
  readonly repositories: readonly RepositoryPreview[];
  readonly missingCards: readonly number[];
  /** Those without a merged pull request, which cannot be picked yet. */
  readonly unmergedCards: readonly number[];
  /** The cards whose work a freeze would include although they are not in the release. */
  readonly cardsOutside: readonly { readonly number: number; readonly title: string }[];
  readonly unfreezeRefusal: string | null;
}> {
  const { workspaceId, projectId } = release;
  const project = requireFound(await findProject(db, workspaceId, projectId), "release");
  const known = new Map((await listBoardRepositories(db, workspaceId)).map((each) => [each.id, each]));
  const tags = new Map((await listReleaseTags(db, release.id)).map((tag) => [tag.repositoryId, tag]));
  const cards: readonly ReleasedCard[] = await listReleasedCards(
    db,
    release.id,
    targetOf(project.flow, true),
  );
  const previews: RepositoryPreview[] = [];
  const repositories = await listReleaseRepositories(db, release.id);
  const listing = repositories.flatMap(({ repositoryId }) => {
    const forgeRef = known.get(repositoryId)?.forgeRef;
    return forgeRef ? [{ repositoryId, forgeRef }] : [];
  });
  const tagNames = await readTagNames({ forge, log }, listing);
  for (const listed of repositories) {
    const repository = known.get(listed.repositoryId);
    if (!repository) continue;
    const { repositoryId, fullName, holdsCards } = listed;
    const branchName = branchToTag(release, project, repository, listed.branchName);
    const tip = branchName === null ? null : await findTip(db, { repositoryId, branchName });
    const tag = tags.get(repositoryId);
    previews.push({
      repositoryId,
      fullName,
      holdsCards,
      freeze: {
        branchName: listed.branchName ?? releaseBranchName(release),
        startsFrom: startBranchOf(project, repository),
      },
      complete: {
        branchName,
        sha: tag?.sha ?? (release.frozenAt ? listed.headSha : tip),
        tagName: tag?.tagName ?? null,
        isPublished: typeof tag?.url === "string",
        ...versionOf(requested.get(repositoryId) ?? tag?.tagName, tagNames.get(repositoryId) ?? null),
        notes: notesIn(repositoryId, cards).body,
      },
    });
  }
  const starts = previews.map(({ repositoryId, freeze }) => ({
    repositoryId,
    branchName: freeze.startsFrom,
  }));
  const missing = new Set(missingCards(cards, repositories));
  const unmerged = cards.filter(
    ({ number, pullRequests }) => missing.has(number) && pullRequests.length === 0,
  );
  return {
    repositories: previews,
    missingCards: [...missing],
    unmergedCards: unmerged.map(({ number }) => number),
    cardsOutside: release.frozenAt ? [] : await listCardsOutside(db, release, starts),
    unfreezeRefusal: unfreezeRefusal(await listReleaseBranches(db, release.id)),
  };
}

type VersionPreview = Pick<RepositoryPreview["complete"], "suggestedTagName" | "prerelease" | "latest">;

function versionOf(wanted: string | undefined, tags: readonly string[] | null): VersionPreview {
  const suggestedTagName = tags && nextVersion(tags);
  const tagName = wanted ?? suggestedTagName;
  if (tagName === null) return { suggestedTagName, prerelease: null, latest: null };
  const { isPrerelease, isLatest } = releasedAs({ tagName }, tags);
  return { suggestedTagName, prerelease: isPrerelease, latest: isLatest };
}
