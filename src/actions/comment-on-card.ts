import { notFound } from "../errors.ts";
import type { CardHead } from "../store/cards/cards.ts";
import { insertComment, readComment } from "../store/events/comments.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import { transaction } from "../store/db/transaction.ts";
import type { Deps } from "./deps.ts";
import { recordGiveUpHere } from "./record-give-up.ts";
import { CALLER_WAITS_MS, mirrorComment, mirrorLater } from "./mirror-comment.ts";
import type { Write } from "./write.ts";

/**
 * Writes a comment on a card, and mirrors it to the card's open pull requests. The comment is kept before GitHub is asked, and
 * answered whatever GitHub says.
 */
export async function commentOnCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  body: string,
): Promise<StoredAnswer> {
  const { trx, userId: authorId, requestId } = write;
  const draft = { id: deps.newId(), cardId: card.id, authorId, body, requestId };
  const written = await insertComment(trx, draft);
  if (!written) throw notFound(`There is no card ${card.number} on this board.`);
  const { comment, isToBeMirrored } = written;
  const { id } = comment;
  await recordGiveUpHere(trx, { id, cardId: card.id, authorId, body });
  if (!isToBeMirrored) return write.answer(comment, 201);
  await mirrorLater(trx, id);
  await write.commit();
  await mirrorComment(deps, id, CALLER_WAITS_MS);
  return transaction(deps.db, async (end) => write.answerIn(end, await readComment(end, id), 201));
}
