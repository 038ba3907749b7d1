import { isMissing, releaseNotes, type ReleaseNotesCard } from "../../flow/releases.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import type { ReleaseRepository } from "../../store/releases/release-branches.ts";
import type { ReleasedCard, ReleasedPullRequest } from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";

/** The commit that a release tags in a repository. */
interface Tag {
  readonly repositoryId: string;
  readonly sha: string;
  readonly forgeRef: RepositoryRef;
}

/**
 * Asks GitHub about the pull requests of which only GitHub knows whether the tags contain them: one after
 * the other, because GitHub limits calls at the same time. Throws `ForgeUnavailable`.
 */
export async function askAboutUnknown(
  deps: Deps,
  cards: readonly ReleasedCard[],
  tagged: readonly Tag[],
): Promise<ReleasedCard[]> {
  const known: ReleasedCard[] = [];
  for (const card of cards) {
    const pullRequests: ReleasedPullRequest[] = [];
    for (const pull of card.pullRequests) {
      const tag = tagged.find(({ repositoryId }) => repositoryId === pull.repositoryId);
      const isUnknown = tag && pull.isReleased === null && pull.mergeSha !== null;
      pullRequests.push(
        isUnknown
          ? { ...pull, isReleased: await deps.forge.contains(tag.forgeRef, tag.sha, pull.mergeSha) }
          : pull,
      );
    }
    known.push({ ...card, pullRequests });
  }
  return known;
}

/** The notes of the GitHub release in a repository, and the pull requests that they refer to. */
export function notesIn(
  repositoryId: string,
  cards: readonly ReleasedCard[],
): { readonly body: string; readonly references: readonly number[] } {
  const notesCards = cards.map((card) => notesCardIn(card, repositoryId));
  const references = notesCards.flatMap(({ pullRequests }) => pullRequests.map(({ number }) => number));
  return { body: releaseNotes(notesCards), references };
}

/** The cards that the notes mark as not in the release; none if it has no repositories. */
export const missingCards = (
  cards: readonly ReleasedCard[],
  repositories: readonly ReleaseRepository[],
): number[] =>
  cards
    .filter(
      (card) =>
        repositories.length > 0 && repositoryIdsOf(card).some((place) => isMissing(notesCardIn(card, place))),
    )
    .map(({ number }) => number);

const repositoryIdsOf = ({ pullRequests }: ReleasedCard): readonly string[] =>
  pullRequests.length === 0 ? [""] : pullRequests.map(({ repositoryId }) => repositoryId);

function notesCardIn(
  { number, title, isDone, pullRequests }: ReleasedCard,
  repositoryId: string,
): ReleaseNotesCard {
  const there = pullRequests
    .filter((pull) => pull.repositoryId === repositoryId)
    .map((pull) => ({ ...pull, isReleased: pull.isReleased === true }));
  return { number, title, pullRequests: there, hasNoWork: !isDone && pullRequests.length === 0 };
}
