import { forbidden } from "../errors.ts";
import { triesOfDueMirrors } from "../store/events/comment-mirrors.ts";
import { changeComment, readComment, type CommentHead } from "../store/events/comments.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import { transaction } from "../store/db/transaction.ts";
import type { Deps } from "./deps.ts";
import { CALLER_WAITS_MS, mirrorComment, mirrorLater } from "./mirror-comment.ts";
import type { Write } from "./write.ts";

/** Changes what one's own comment says, here and on the pull requests that show it. */
export async function editComment(
  deps: Deps,
  write: Write,
  comment: CommentHead,
  body: string,
): Promise<StoredAnswer> {
  if (comment.login !== null) throw forbidden("This comment was written on the forge and is edited there.");
  if (comment.authorId !== write.userId) throw forbidden("A comment is edited by whoever wrote it.");
  const { trx } = write;
  const { id } = comment;
  await changeComment(trx, id, body);
  if ((await triesOfDueMirrors(trx, id)) === null) return write.answer(await readComment(trx, id));
  await mirrorLater(trx, id);
  await write.commit();
  await mirrorComment(deps, id, CALLER_WAITS_MS);
  return transaction(deps.db, async (end) => write.answerIn(end, await readComment(end, id)));
}
