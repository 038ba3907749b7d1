import { noteBackmerge, isInRelease, pickReleaseCard } from "../store/releases/release-cards.ts";
import type { CardHead } from "../store/cards/cards.ts";
import type { Trx } from "../store/db/connect.ts";
import { forgetPickBranches, setReleaseBranchHead } from "../store/releases/release-branches.ts";
import type { ReleaseHead } from "../store/releases/releases.ts";
import { recordEvents } from "../store/events/timeline.ts";
import type { RunningAction } from "./begin-release-action.ts";
import { bringBackSoon } from "./bring-back-hotfix.ts";
import type { RepositoryPick } from "./plan-pick.ts";

/** Takes a picked card into its release and tells so, where that is not so already. */
export async function recordPick(
  trx: Trx,
  action: RunningAction,
  release: ReleaseHead,
  card: CardHead,
  picks: readonly RepositoryPick[],
): Promise<void> {
  const written = picks.filter(({ commits }) => commits.length > 0);
  for (const { repositoryId, landed, prepared } of written) {
    if (landed !== null) await setReleaseBranchHead(trx, release.id, repositoryId, landed);
    // Landing takes the temporary branch away.
    if (prepared) await forgetPickBranches(trx, [action.id], repositoryId);
  }
  if (written.length === 0 && (await isInRelease(trx, release.id, card.id))) return;
  await pickReleaseCard(trx, release.id, card.id);
  if (!card.hotfix) await noteMissing(trx, action, release.id, card.id, written);
  await recordEvents(trx, [
    {
      cardId: card.id,
      kind: "release_picked",
      actor: { userId: action.actorId, login: null },
      data: {
        releaseId: release.id,
        releaseName: release.name,
        commits: written.flatMap(({ commits }) => commits),
      },
    },
  ]);
}

/** What was picked from elsewhere should come to the branch releases are cut from, too. A hotfix is seen to when it lands. */
async function noteMissing(
  trx: Trx,
  { actorId }: RunningAction,
  releaseId: string,
  cardId: string,
  picks: readonly RepositoryPick[],
): Promise<void> {
  for (const { repositoryId, commits, missingFrom } of picks) {
    const sha = commits.at(-1);
    if (missingFrom === null || sha === undefined) continue;
    await noteBackmerge(trx, { cardId, repositoryId, targetBranch: missingFrom, sha, actorId, releaseId });
    await bringBackSoon(trx, cardId);
  }
}
