import { notFound } from "../../errors.ts";
import { findArmed } from "../../store/cards/armed-moves.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import type { Write } from "../write.ts";
import { disarm } from "./armed-move.ts";
import { abandonMove } from "./start-move.ts";

/**
 * Disarms a card's move. Returns 204. Throws `not_found` if none is armed, and busy while the move
 * runs.
 */
export async function cancelArmed(write: Write, card: CardHead): Promise<StoredResponse> {
  const { trx, userId } = write;
  const locked = await lockCard(trx, card.id);
  const armed = locked && (await findArmed(trx, card.id));
  if (!armed || armed.isExpired) throw notFound(`No move of card ${card.number} is armed.`);
  const open = await findOpenMove(trx, card.id);
  if (open) await abandonMove(trx, card, open);
  await disarm(trx, armed, { reason: "cancelled", message: "The armed move was cancelled." }, userId);
  return write.respond(null, 204);
}
