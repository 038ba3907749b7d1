import { plainName, withoutMentions } from "../flow/mentions.ts";
import type { Refusal } from "../flow/refusal.ts";
import { ForgeUnavailable, type Ordered } from "../forge/forge.ts";
import {
  letGoOfMirror,
  settleMirror,
  takeDueMirrors,
  triesOfDueMirrors,
  readSecret,
  type DueMirror,
} from "../store/events/comment-mirrors.ts";
import type { Db } from "../store/db/connect.ts";
import { addJob } from "../store/db/jobs.ts";
import { markOf, withoutMarks } from "./comment-mark.ts";
import type { Deps } from "./deps.ts";

export const MIRROR_COMMENT = "mirror-comment";

/** How long a caller waits for the mirrors of a comment; what is not done by then is done later. */
export const CALLER_WAITS_MS = 5_000;
/** How long the job gives the forge: writes of one installation take turns, a second apart. */
export const JOB_WAITS_MS = 15_000;
/** A try that is over may still be recorded. */
const HOLD_MARGIN_MS = 4_000;
/** When to look after mirrors that a process may have left behind by dying. */
const LOOK_AFTER_MS = 12_000;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

/** Sees to it that a comment's mirrors are written even should this process die now. */
export const mirrorLater = (db: Db, commentId: string, delayMs = LOOK_AFTER_MS): Promise<void> =>
  addJob(db, MIRROR_COMMENT, { commentId }, { key: `${MIRROR_COMMENT}:${commentId}`, delayMs });

/**
 * Writes a comment, as it is now, to the pull requests that do not show it yet, all at once and in `waitMs`. What the forge refuses, or
 * does not answer, is tried again later, with growing pauses.
 */
export async function mirrorComment(deps: Deps, commentId: string, waitMs: number): Promise<void> {
  const due = await takeDueMirrors(deps.db, commentId, (waitMs + HOLD_MARGIN_MS) / 1_000);
  const secret = due.length > 0 ? await readSecret(deps.db, "comment_marks") : Buffer.alloc(0);
  const results = await Promise.all(due.map((mirror) => tryMirror(deps, secret, mirror, waitMs)));
  if (due.length > 0 && results.every((isDone) => isDone)) return;
  const tries = await triesOfDueMirrors(deps.db, commentId);
  if (tries === null) return;
  const pause = FIRST_PAUSE_MS * 2 ** Math.max(0, tries - 1);
  await mirrorLater(deps.db, commentId, Math.min(pause, LONGEST_PAUSE_MS));
}

/** Whether the pull request is known to show it now. */
async function tryMirror(deps: Deps, secret: Buffer, mirror: DueMirror, waitMs: number): Promise<boolean> {
  const { commentId, prNumber, revision } = mirror;
  let isUnsure = false;
  try {
    const written = await writeMirror(deps, secret, mirror, waitMs);
    if (!written.ok) {
      const { reason, message } = written.refusal;
      deps.log.warn({ commentId, prNumber, reason, message }, "the forge refused to mirror a comment");
    } else if (written.value.commentId === null) {
      isUnsure = true;
      deps.log.warn({ commentId, prNumber }, "a comment may be mirrored, and is not shown yet");
    } else {
      await settleMirror(deps.db, mirror, { forgeCommentId: written.value.commentId, revision });
      return true;
    }
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ commentId, prNumber, reason: error.message }, "a comment could not be mirrored");
  }
  await letGoOfMirror(deps.db, mirror, isUnsure);
  return false;
}

const NOT_CONNECTED: Refusal = { reason: "not_permitted", message: "The repository is no longer connected" };

async function writeMirror(
  deps: Deps,
  secret: Buffer,
  mirror: DueMirror,
  waitMs: number,
): Promise<Ordered<{ readonly commentId: number | null }>> {
  const { ref, forgeCommentId, prNumber, triedSince, isRepeated, mayWrite } = mirror;
  if (!ref) return { ok: false, refusal: NOT_CONNECTED };
  const mark = markOf(secret, {
    commentId: mirror.commentId,
    repositoryForgeId: mirror.forgeId,
    prNumber,
  });
  const body = `${mark}\n\n${mirroredText(mirror)}`;
  if (forgeCommentId !== null) return deps.forge.editComment(ref, forgeCommentId, body, waitMs);
  const order = { number: prNumber, body, mark, triedSince: triedSince.toISOString(), isRepeated, mayWrite };
  return deps.forge.comment(ref, order, waitMs);
}

/** What readers of the pull request see: who says it, and what, without calling anybody there by name. */
function mirroredText({ authorName, cardNumber, body }: DueMirror): string {
  return `**${plainName(authorName)}** on card ${cardNumber}:\n\n${withoutMentions(withoutMarks(body))}`;
}
