import { forbidden } from "../errors.ts";
import { triesOfDueMirrors } from "../store/comment-mirrors.ts";
import { changeComment, readComment, type CommentHead } from "../store/comments.ts";
import type { Answered, Caller } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { CALLER_WAITS_MS, mirrorComment, mirrorLater } from "./mirror-comment.ts";

/** Changes what one's own comment says, here and on the pull requests that show it. */
export async function editComment(
  deps: Deps,
  caller: Caller,
  comment: CommentHead,
  body: string,
): Promise<Answered> {
  if (comment.login !== null) throw forbidden("This comment was written on the forge and is edited there.");
  if (comment.authorId !== caller.userId) throw forbidden("A comment is edited by whoever wrote it.");
  const { id } = comment;
  const answered = await deps.db.transaction(async (trx) => {
    await changeComment(trx, id, body);
    if ((await triesOfDueMirrors(trx, id)) === null) return caller.answer(trx, await readComment(trx, id));
    await mirrorLater(trx, id);
    return null;
  });
  if (answered) return answered;
  await mirrorComment(deps, id, CALLER_WAITS_MS);
  return deps.db.transaction(async (trx) => caller.answer(trx, await readComment(trx, id)));
}
