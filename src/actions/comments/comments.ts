import { forbidden, notFound } from "../../errors.ts";
import { plainName } from "../../flow/comment-text.ts";
import type { Refusal } from "../../flow/refusal.ts";
import { ForgeLimited, ForgeUnavailable, type ForgeResult } from "../../forge/values.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import {
  releaseMirror,
  completeMirror,
  claimDueMirrors,
  countDueMirrorTries,
  type DueMirror,
  readSecret,
} from "../../store/events/comment-mirrors.ts";
import { changeComment, insertComment, readComment, type CommentHead } from "../../store/events/comments.ts";
import type { Db } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { Deps } from "../deps.ts";
import { recordGiveUpOnCard } from "../cards/give-up.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";
import type { Write } from "../write.ts";
import { markOf, withoutMarks } from "./comment-mark.ts";

/**
 * Writes a comment on a card and mirrors it to the card's open pull requests. Commits before the
 * first call to GitHub, and returns 201 even if GitHub refuses or does not respond.
 */
export async function commentOnCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  body: string,
): Promise<StoredResponse> {
  const { trx, userId: authorId, requestId } = write;
  const draft = { id: deps.newId(), cardId: card.id, authorId, body, requestId };
  const written = await insertComment(trx, draft);
  if (!written) throw notFound(`There is no card ${card.number} on this board.`);
  const { comment, isToBeMirrored } = written;
  const { id } = comment;
  await recordGiveUpOnCard(trx, { id, cardId: card.id, authorId, body });
  if (!isToBeMirrored) return write.respond(comment, 201);
  return respondMirrored(deps, write, id, 201);
}

/** Changes the caller's own comment, here and on the pull requests that show it. */
export async function editComment(
  deps: Deps,
  write: Write,
  comment: CommentHead,
  body: string,
): Promise<StoredResponse> {
  if (comment.login !== null) throw forbidden("This comment was written on GitHub. Edit it there.");
  if (comment.authorId !== write.userId) throw forbidden("Only the author of a comment can edit it.");
  const { trx } = write;
  const { id } = comment;
  await changeComment(trx, id, body);
  if ((await countDueMirrorTries(trx, id)) === null) return write.respond(await readComment(trx, id));
  return respondMirrored(deps, write, id, 200);
}

/** Commits the comment, mirrors it while the caller waits, and returns it. */
async function respondMirrored(
  deps: Deps,
  write: Write,
  commentId: string,
  status: number,
): Promise<StoredResponse> {
  await mirrorLater(write.trx, commentId);
  await write.commit();
  await mirrorComment(deps, commentId, CALLER_WAITS_MS);
  return transaction(deps.db, async (trx) => write.respondIn(trx, await readComment(trx, commentId), status));
}

/** How long a caller waits for mirrors. A job writes the missing ones. */
const CALLER_WAITS_MS = 5_000;
/** How long the job waits for GitHub: writes of one installation are a second apart. */
export const JOB_WAITS_MS = 15_000;
/** The time left for recording an attempt after its calls. */
const HOLD_MARGIN_MS = 4_000;
/** When the job checks for mirrors that a dead process has not written. */
const CHECK_AFTER_MS = 12_000;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

const mirrorLater = (db: Db, commentId: string, delayMs = CHECK_AFTER_MS): Promise<void> =>
  schedule(db, JOBS.mirrorComment, { commentId }, { delayMs });

/**
 * Writes the current text of a comment to the pull requests that do not show it, in parallel and
 * within `waitMs`. Failed attempts are repeated later, with growing pauses.
 */
export async function mirrorComment(deps: Deps, commentId: string, waitMs: number): Promise<void> {
  const due = await claimDueMirrors(deps.db, commentId, (waitMs + HOLD_MARGIN_MS) / 1_000);
  const secret = due.length > 0 ? await readSecret(deps.db, "comment_marks") : Buffer.alloc(0);
  const results = await Promise.all(due.map((mirror) => tryMirror(deps, secret, mirror, waitMs)));
  if (due.length > 0 && results.every(({ isDone }) => isDone)) return;
  const tries = await countDueMirrorTries(deps.db, commentId);
  if (tries === null) return;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, tries - 1), LONGEST_PAUSE_MS);
  const limitedMs = results.map(({ limitedFor }) => limitedFor * 1_000);
  await mirrorLater(deps.db, commentId, Math.max(pause, ...limitedMs));
}

interface MirrorAttempt {
  /** Whether the pull request is known to show the text. */
  readonly isDone: boolean;
  /** For how many more seconds GitHub limits requests, or 0. */
  readonly limitedFor: number;
}

async function tryMirror(
  deps: Deps,
  secret: Buffer,
  mirror: DueMirror,
  waitMs: number,
): Promise<MirrorAttempt> {
  const { commentId, prNumber, revision } = mirror;
  let isUnsure = false;
  let limitedFor = 0;
  try {
    const linked = depsGuardedByLink(deps, mirror.cardId, mirror.repositoryId);
    const written = await writeMirror(linked, secret, mirror, waitMs);
    if (!written.ok) {
      const { reason, message } = written.refusal;
      deps.log.warn({ commentId, prNumber, reason, message }, "GitHub refused to mirror a comment");
    } else if (written.value.commentId === null) {
      isUnsure = true;
      deps.log.warn({ commentId, prNumber }, "a comment may have been mirrored but is not shown yet");
    } else {
      await completeMirror(deps.db, mirror, { forgeCommentId: written.value.commentId, revision });
      return { isDone: true, limitedFor };
    }
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ commentId, prNumber, reason: error.message }, "a comment could not be mirrored");
    if (error instanceof ForgeLimited) limitedFor = error.retryAfter;
  }
  await releaseMirror(deps.db, mirror, { isUnsure, isCounted: limitedFor === 0 });
  return { isDone: false, limitedFor };
}

const NOT_CONNECTED: Refusal = { reason: "not_permitted", message: "The repository is no longer connected" };

async function writeMirror(
  deps: Deps,
  secret: Buffer,
  mirror: DueMirror,
  waitMs: number,
): Promise<ForgeResult<{ readonly commentId: number | null }>> {
  const { forgeRef, forgeCommentId, prNumber, triedSince, isRetry, mayWrite } = mirror;
  if (!forgeRef) return { ok: false, refusal: NOT_CONNECTED };
  const mark = markOf(secret, {
    commentId: mirror.commentId,
    repositoryForgeId: mirror.forgeId,
    prNumber,
  });
  const body = `${mark}\n\n${mirroredText(mirror)}`;
  if (forgeCommentId !== null) return deps.forge.editComment(forgeRef, forgeCommentId, body, waitMs);
  const order = {
    number: prNumber,
    body,
    mark,
    firstAttemptAt: triedSince.toISOString(),
    isRetry,
    mayWrite,
  };
  return deps.forge.comment(forgeRef, order, waitMs);
}

/** The text on the pull request: the author and the comment. The forge makes it inert. */
function mirroredText({ authorName, cardNumber, body }: DueMirror): string {
  return `**${plainName(authorName)}** on card ${cardNumber}:\n\n${withoutMarks(body)}`;
}
