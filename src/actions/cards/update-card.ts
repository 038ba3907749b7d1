import { notFound } from "../../errors.ts";
import {
  lockParents,
  lockCard,
  readChangedCard,
  saveCardFields,
  markCardDeleted,
  type CardChanges,
  type CardHead,
} from "../../store/cards/cards.ts";
import { lockClaim } from "../../store/cards/claims.ts";
import { setRelated } from "../../store/cards/card-relations.ts";
import { lockProject } from "../../store/cards/projects.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import { recordChange } from "../../store/events/feed.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import type { Deps } from "../deps.ts";
import { disarmCard } from "../moves/armed-move.ts";
import { abandonMove } from "../moves/start-move.ts";
import { removeFromRelease } from "../releases/releases.ts";
import { recheckCardsWaitingForRoom } from "../../store/cards/schedule-rechecks.ts";
import type { Write } from "../write.ts";
import {
  lockGrouping,
  lockCardPages,
  saveCardPages,
  findRelations,
  type CardInput,
} from "./card-relations.ts";
import { relinkCard } from "./relink-card.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** Sets the given fields, leaves the others, and returns the whole card. */
export async function updateCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  input: CardInput,
): Promise<StoredResponse> {
  const { trx, workspaceId, userId } = write;
  const { title, description, priority, dueDate, featureId } = input;
  const [, , , current, , relations] = await allInOrder([
    input.repositoryIds && lockProject(trx, card.projectId, "share"),
    lockGrouping(trx, workspaceId, input),
    lockCardPages(trx, workspaceId, input),
    lockCard(trx, card.id),
    typeof input.parentNumber === "number" && lockParents(trx, workspaceId),
    findRelations(trx, workspaceId, input, card.id),
  ]);
  if (!current) throw notFound(`There is no card ${card.number} on this board.`);
  const changes: CardChanges = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
    ...(dueDate !== undefined && { dueDate }),
    ...(featureId !== undefined && { featureId }),
    ...relations,
  };
  const isRelinked = input.repositoryIds && (await relinkCard(trx, write, current, input.repositoryIds));
  const { repositoryIds: _, ...ownFields } = input;
  const fields = Object.keys(ownFields).toSorted();
  const actor = { userId, login: null };
  const updated = { cardId: card.id, kind: "updated", actor, data: { fields } } as const;
  const [, , , , changed] = await allInOrder([
    input.labelIds && setRelated(trx, "labels", card.id, input.labelIds),
    saveCardPages(trx, workspaceId, card.id, input),
    (fields.length > 0 || isRelinked) && saveCardFields(trx, card.id, changes),
    fields.length > 0 && recordEvents(trx, [updated]),
    readChangedCard(trx, workspaceId, card.number),
  ]);
  return write.respond(changed);
}

/**
 * Hides a card. Its branch stays on GitHub, and its open pull requests unless they are to be closed:
 * then a job does that. Returns 204. Throws busy while the card
 * is being moved or queued, and `conflict` if its release is frozen.
 */
export async function deleteCard(
  write: Write,
  card: CardHead,
  isToClosePullRequests: boolean,
): Promise<StoredResponse> {
  const { trx } = write;
  // Writes under a claim lock it before the card, and the deletion of a card deletes its claim.
  await lockClaim(trx, card.id);
  if (!(await lockCard(trx, card.id))) throw notFound(`There is no card ${card.number} on this board.`);
  const operation = await findOpenMove(trx, card.id);
  if (operation) await abandonMove(trx, card, operation);
  const why = { reason: "card_deleted", message: "The card was deleted." } as const;
  await disarmCard(trx, card.id, why, write.userId);
  await removeFromRelease(trx, card);
  await markCardDeleted(trx, card.id);
  if (isToClosePullRequests) await schedule(trx, JOBS.closePullRequests, { cardId: card.id });
  await recheckCardsWaitingForRoom(trx, card.stageId);
  const { id: cardId, projectId, stageId } = card;
  await recordChange(trx, write, {
    kind: "card_deleted",
    cardId,
    data: { from: { projectId, statusId: stageId }, to: null },
  });
  return write.respond(null, 204);
}
