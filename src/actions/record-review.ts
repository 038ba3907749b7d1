import type { ReviewSubmitted } from "../forge/events.ts";
import { findCardById } from "../store/cards/cards.ts";
import { recordEvents } from "../store/events/timeline.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { knownRepository } from "./known-repository.ts";
import { pullRequestOwner } from "./pull-request-owner.ts";
import { recheckIfBlocked } from "./recheck-blocked.ts";
import { transaction } from "../store/db/transaction.ts";

/** Records a review of a card's pull request. */
export async function recordReview(deps: Deps, event: ReviewSubmitted): Promise<void> {
  const repository = await knownRepository(deps, event);
  const cardId = repository && (await pullRequestOwner(deps.db, repository, event));
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!repository || !card) return;
  await transaction(deps.db, async (trx) => {
    await recordEvents(trx, [
      {
        cardId: card.id,
        kind: "review_submitted",
        actor: await forgeActor(deps, trx, event.sender),
        repositoryId: repository.id,
        data: { prNumber: event.number, state: event.state },
        at: event.at,
        naturalKey: `review:${repository.id}:${event.reviewId}:${event.state}`,
      },
    ]);
    await recheckIfBlocked(trx, card.id);
  });
}
