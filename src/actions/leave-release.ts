import { busy, conflict } from "../errors.ts";
import type { CardHead } from "../store/cards/cards.ts";
import type { Trx } from "../store/db/connect.ts";
import { findPickUnderWay } from "../store/releases/release-actions.ts";
import { listOpenScopes, removeReleaseCard } from "../store/releases/release-cards.ts";
import { holdOpenReleases } from "../store/releases/releases.ts";
import { requireIdle } from "./begin-release-action.ts";

/**
 * Takes a card that is about to be deleted out of its open release; what a completed one carried stays told. The card's row is held by the
 * caller. Throws `conflict` where the release is frozen, busy while something is done to it.
 */
export async function leaveRelease(trx: Trx, card: CardHead): Promise<void> {
  const pickedInto = await findPickUnderWay(trx, [card.id]);
  if (pickedInto !== null) {
    throw busy(
      `Card ${card.number} is being picked into the release ${pickedInto}. Delete it once that is done.`,
      2,
    );
  }
  const [scope] = await listOpenScopes(trx, [card.id]);
  if (!scope) return;
  const open = await holdOpenReleases(trx, card.projectId);
  const release = open.find(({ id }) => id === scope.releaseId);
  if (release?.frozenAt) {
    throw conflict(
      `Card ${card.number} is in the frozen release ${release.name}. Unfreeze or complete the release first.`,
    );
  }
  if (release) await requireIdle(trx, release);
  await removeReleaseCard(trx, scope.releaseId, card.id);
}
