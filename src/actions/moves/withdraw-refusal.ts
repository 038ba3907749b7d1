import { forbidden, notFound } from "../../errors.ts";
import { setBlocked } from "../../store/cards/blocked-cards.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { findLastActor, recordEvents } from "../../store/events/timeline.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import type { Write } from "../write.ts";

/**
 * Withdraws the refused move of a card: the card is not blocked any more, and the timeline keeps the
 * refusal. Returns 204. Throws `not_found` if no move is refused, and `forbidden` unless the caller
 * moved the card or is a maintainer.
 */
export async function withdrawRefusal(write: Write, { id, number }: CardHead): Promise<StoredResponse> {
  const { trx, userId, role } = write;
  const card = await lockCard(trx, id);
  if (!card?.blocked) throw notFound(`No move of card ${number} is refused.`);
  if (role !== "maintainer" && (await findLastActor(trx, id, "promotion_refused")) !== userId) {
    throw forbidden("Only the person who moved the card, or a maintainer, can withdraw the move.");
  }
  const { statusId, reason } = card.blocked;
  await setBlocked(trx, id, null);
  const actor = { userId, login: null };
  await recordEvents(trx, [{ cardId: id, kind: "refusal_withdrawn", actor, data: { statusId, reason } }]);
  return write.respond(null, 204);
}
