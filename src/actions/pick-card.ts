import { conflict, invalid, notFound } from "../errors.ts";
import { findCard } from "../store/cards/cards.ts";
import type { Trx } from "../store/db/connect.ts";
import { holdCards } from "../store/releases/release-cards.ts";
import type { ReleaseHead } from "../store/releases/releases.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { carryOutPick } from "./carry-out-pick.ts";
import type { Deps } from "./deps.ts";
import { actOnRelease } from "./release-action.ts";
import { requireInNoOther } from "./set-release-cards.ts";

/**
 * Takes a card into a frozen release: its merged commits are picked onto the release's branch in each of its repositories, in order, in all of
 * them or in none. What a branch has already is not picked again. Answers with the release. Throws `refused` for a card that is not merged
 * yet, or conflicts, `not_found` for a number that no card of the board has.
 */
export async function pickCard(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  taskNumber: number,
): Promise<StoredAnswer> {
  const card = await findCard(write.trx, write.workspaceId, taskNumber);
  if (!card) throw noCard(taskNumber);
  if (card.projectId !== release.projectId) {
    const message = `card ${taskNumber} belongs to another project`;
    throw invalid(`body.taskNumber: ${message}`, [{ path: "body.taskNumber", message }]);
  }
  return actOnRelease(
    deps,
    write,
    release,
    { kind: "pick", input: { cardId: card.id }, cardId: card.id },
    carryOutPick,
    {
      // Cards before releases, as everybody who needs both.
      first: async (trx) => {
        const [held] = await holdCards(trx, write.workspaceId, [taskNumber]);
        if (!held) throw noCard(taskNumber);
      },
      isNeeded: (trx, current) => isPickable(trx, current, card.id),
    },
  );
}

const noCard = (number: number): Error => notFound(`There is no card ${number} on this board.`);

async function isPickable(trx: Trx, release: ReleaseHead, cardId: string): Promise<boolean> {
  if (!release.frozenAt) {
    throw conflict(
      `The release ${release.name} is not frozen. Set its cards with PUT /v1/releases/${release.id}/cards.`,
    );
  }
  await requireInNoOther(trx, release, [{ id: cardId }]);
  return true;
}
