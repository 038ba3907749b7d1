import { notFound } from "../errors.ts";
import { isCardNumber, type CardHead } from "../store/cards.ts";
import type { AtOnce } from "../store/at-once.ts";
import { commentAtOnce, insertComment, readComment } from "../store/comments.ts";
import { giveUpReason } from "../flow/give-up.ts";
import type { Answered, Caller, KeyedAsker } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { recordGiveUpHere } from "./record-give-up.ts";
import { CALLER_WAITS_MS, mirrorComment, mirrorLater } from "./mirror-comment.ts";

/**
 * Writes a comment on a card, and mirrors it to the card's open pull requests. It is kept before the forge is asked, and answered whatever
 * the forge says.
 */
export async function commentOnCard(
  deps: Deps,
  caller: Caller,
  card: CardHead,
  body: string,
): Promise<Answered> {
  const stored = await deps.db.transaction(async (trx) => {
    const { userId: authorId, requestId } = caller;
    const written = await insertComment(trx, {
      id: deps.newId(),
      cardId: card.id,
      authorId,
      body,
      requestId,
    });
    if (!written) throw notFound(`There is no card ${card.number} on this board.`);
    await recordGiveUpHere(trx, { id: written.comment.id, cardId: card.id, authorId, body });
    if (!written.isToBeMirrored) return { answered: await caller.answer(trx, written.comment, 201) };
    await mirrorLater(trx, written.comment.id);
    return { id: written.comment.id };
  });
  if (stored.answered) return stored.answered;
  await mirrorComment(deps, stored.id, CALLER_WAITS_MS);
  return deps.db.transaction(async (trx) => caller.answer(trx, await readComment(trx, stored.id), 201));
}

/** The same in one statement, where the card has nothing to mirror to and the comment only says something. */
export async function sayOnCard(
  deps: Deps,
  asker: KeyedAsker,
  number: number,
  body: string,
): Promise<AtOnce> {
  if (!isCardNumber(number) || giveUpReason(body) !== null) return null;
  const { workspaceId, userId: authorId, requestId } = asker;
  return commentAtOnce(deps.db, asker, { id: deps.newId(), workspaceId, number, authorId, body, requestId });
}
