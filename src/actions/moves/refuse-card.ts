import type { Stage } from "../../flow/flow.ts";
import type { MergedWork } from "../../flow/move.ts";
import type { Blocked, BlockedReason } from "../../flow/refusal.ts";
import { blockCard } from "../../store/cards/blocked-cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { RecordedMerge } from "../../store/cards/moves.ts";

/** The response to a refused move. */
export interface RefusedMove {
  readonly state: "refused";
  readonly blocked: Blocked;
  readonly promoted: readonly RecordedMerge[];
  /** Left out when empty. */
  readonly alreadyMerged?: readonly MergedWork[];
}

/** Blocks a card that could not enter a stage, and records the refusal. The caller has locked the card. */
export async function refuseCard(
  trx: Trx,
  { card, stage }: { readonly card: { readonly id: string }; readonly stage: Stage },
  { reasons, headSha }: { readonly reasons: readonly BlockedReason[]; readonly headSha: string | null },
  actorId: string,
): Promise<Blocked> {
  const [first] = reasons;
  if (!first) throw new Error("a refusal without a reason");
  const { reason, message, repository } = first;
  const refused = { reason, message, repository, reasons, statusId: stage.id, headSha };
  const blocked = await blockCard(trx, card.id, refused);
  const actor = { userId: actorId, login: null };
  await recordEvents(trx, [{ cardId: card.id, kind: "promotion_refused", actor, data: { ...blocked } }]);
  return blocked;
}
