import { notFound } from "../errors.ts";
import { hideCard, lockCard, type CardHead } from "../store/cards.ts";
import { findOpenOperation } from "../store/operations.ts";
import { abandonMove } from "./begin-move.ts";
import type { StoredAnswer } from "../store/idempotency.ts";
import type { Write } from "./write.ts";
import { leaveRelease } from "./releases/releases.ts";

/**
 * Hides a card for good; its branch and pull request are left alone. A card that is being moved, or waits in a merge
 * queue, is busy; one in a frozen release stays. Answers 204.
 */
export async function deleteCard(write: Write, card: CardHead): Promise<StoredAnswer> {
  const { trx } = write;
  if (!(await lockCard(trx, card.id))) throw notFound(`There is no card ${card.number} on this board.`);
  const operation = await findOpenOperation(trx, card.id);
  if (operation) await abandonMove(trx, card, operation);
  await leaveRelease(trx, card);
  await hideCard(trx, card.id);
  return write.answer(null, 204);
}
