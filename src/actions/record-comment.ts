import type { Commented } from "../forge/events.ts";
import { adoptMirror, dropMirror, findMirrored, readSecret } from "../store/events/comment-mirrors.ts";
import { removeForgeComment, saveForgeComment } from "../store/events/comments.ts";
import { findCardById } from "../store/cards/cards.ts";
import { findPullRequestOwner } from "../store/forge/pull-requests.ts";
import type { Repository } from "../store/forge/repositories.ts";
import { markedComment, tellableBody } from "./comment-mark.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { knownRepository } from "./known-repository.ts";
import { recordGiveUp } from "./record-give-up.ts";
import { recordProposalComment } from "./record-proposal.ts";
import { transaction } from "../store/db/transaction.ts";

/** Records what was written on a card's pull request; of our own mirrors only what became of them. */
export async function recordComment(deps: Deps, event: Commented): Promise<void> {
  const repository = await knownRepository(deps, event);
  if (!repository) return;
  const cardId = await findPullRequestOwner(deps.db, repository.id, event.number);
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!card) return recordProposalComment(deps, repository, event);
  if (await isOurs(deps, event)) return recordMirror(deps, repository, event);
  await transaction(deps.db, async (trx) => {
    const comment = {
      id: deps.newId(),
      cardId: card.id,
      repositoryId: repository.id,
      forgeCommentId: event.commentId,
      prNumber: event.number,
      author: await forgeActor(deps, trx, event.author),
      body: tellableBody(event.body),
      writtenAt: event.writtenAt,
      heardAt: event.at,
    };
    if (event.action === "deleted") await removeForgeComment(trx, comment);
    else await saveForgeComment(trx, comment, event.action === "edited");
    const where = { cardId: card.id, workspaceId: card.workspaceId, repositoryId: repository.id };
    await recordGiveUp(trx, where, event, comment.author);
  });
}

/** Whatever our own account says on a card's pull request was said here before. */
async function isOurs(deps: Deps, { author }: Commented): Promise<boolean> {
  return author?.isBot === true && author.forgeId === (await deps.forge.identity()).botId;
}

/** The forge may tell of a mirror before it answers the call that wrote it, or when nobody waits for that answer any more. */
async function recordMirror(deps: Deps, repository: Repository, event: Commented): Promise<void> {
  const place = { repositoryForgeId: event.repository.forgeId, prNumber: event.number };
  const commentId =
    (await findMirrored(deps.db, repository.id, event.commentId)) ??
    markedComment(await readSecret(deps.db, "comment_marks"), event.body, place);
  if (commentId === null) return;
  const mirror = { commentId, repositoryId: repository.id, prNumber: event.number };
  if (event.action === "deleted") await dropMirror(deps.db, mirror);
  else await adoptMirror(deps.db, mirror, event.commentId);
}
