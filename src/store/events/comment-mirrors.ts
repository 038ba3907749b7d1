import type { RepositoryRef } from "../../forge/values.ts";
import { firstValue, rows, type Db } from "../db/connect.ts";
import { READS_LAG } from "../forge/reads-lag.ts";
import { REF, hasUsableLink } from "../forge/repositories.ts";

/** A comment whose copy on a pull request is missing or stale. */
export interface DueMirror {
  readonly commentId: string;
  readonly repositoryId: string;
  readonly prNumber: number;
  /** Null while GitHub must not be called about the repository. */
  readonly forgeRef: RepositoryRef | null;
  readonly forgeId: number;
  /** Null until the copy is known to exist. */
  readonly forgeCommentId: number | null;
  /** The start of the first attempt. */
  readonly triedSince: Date;
  /** Whether an earlier attempt may have written the copy. */
  readonly isRetry: boolean;
  /** Whether GitHub would show an earlier copy by now, so that a missing one may be written. */
  readonly mayWrite: boolean;
  readonly cardId: string;
  readonly revision: number;
  readonly body: string;
  readonly authorName: string;
  readonly cardNumber: number;
}

/** After this many attempts in about a day, only an edit of the comment causes another one. */
const MAX_TRIES = 33;

/** SQL for whether the mirror `m` of the comment `t` is missing or stale. */
const IS_DUE = `not m.gone and m.shown_revision is distinct from t.revision and m.tries < ${MAX_TRIES}`;

type MirrorKey = Pick<DueMirror, "commentId" | "repositoryId" | "prNumber">;

/**
 * Claims the due mirrors of a comment for `holdSeconds` and counts the attempt, before they are
 * written. Skips mirrors that another process has claimed.
 */
export async function claimDueMirrors(db: Db, commentId: string, holdSeconds: number): Promise<DueMirror[]> {
  return rows<DueMirror>(
    db,
    `with due as (
       select m.repository_id, m.pr_number, m.first_tried_at,
              m.unsure_since is null or m.unsure_since < now() - ${READS_LAG} as may_write
         from comment_mirrors m join timeline_items t on t.id = m.comment_id
        where m.comment_id = :commentId and ${IS_DUE} and (m.held_until is null or m.held_until < now())
        for update of m skip locked)
     update comment_mirrors m
        set held_until = now() + :holdSeconds * interval '1 second', tries = m.tries + 1,
            first_tried_at = coalesce(m.first_tried_at, now()),
            unsure_since = case when due.may_write then now() + :holdSeconds * interval '1 second' else m.unsure_since end
       from due, timeline_items t, users u, cards c, repositories r, organizations o
      where m.comment_id = :commentId and m.repository_id = due.repository_id and m.pr_number = due.pr_number
        and t.id = m.comment_id and u.id = t.actor_id and c.id = t.card_id
        and r.id = m.repository_id and o.id = r.organization_id
     returning m.comment_id as "commentId", m.repository_id as "repositoryId", m.pr_number as "prNumber",
               r.forge_id as "forgeId", m.forge_comment_id as "forgeCommentId", m.first_tried_at as "triedSince",
               due.first_tried_at is not null as "isRetry", due.may_write as "mayWrite",
               t.card_id as "cardId", t.revision, t.body, u.name as "authorName", c.number as "cardNumber",
               case when ${hasUsableLink("t.card_id", "m.repository_id")} then ${REF} end as "forgeRef"`,
    { commentId, holdSeconds },
  );
}

/** The largest number of attempts of the due mirrors of a comment; null if none is due. */
export async function countDueMirrorTries(db: Db, commentId: string): Promise<number | null> {
  return firstValue<number>(
    db,
    `select max(m.tries) as tries from comment_mirrors m join timeline_items t on t.id = m.comment_id
      where m.comment_id = :commentId and ${IS_DUE}`,
    { commentId },
  );
}

/** Records that the pull request shows this revision of the comment. */
export async function completeMirror(
  db: Db,
  key: MirrorKey,
  shown: { readonly forgeCommentId: number; readonly revision: number },
): Promise<void> {
  await db("comment_mirrors").where(columns(key)).update({
    forge_comment_id: shown.forgeCommentId,
    shown_revision: shown.revision,
    held_until: null,
    unsure_since: null,
  });
}

/**
 * Releases a mirror after a failed attempt. `isUnsure`: whether it may have written the copy.
 * `isCounted`: whether it uses up an attempt.
 */
export async function releaseMirror(
  db: Db,
  mirror: MirrorKey & Pick<DueMirror, "mayWrite">,
  { isUnsure, isCounted }: { readonly isUnsure: boolean; readonly isCounted: boolean },
): Promise<void> {
  const unsure = mirror.mayWrite ? { unsure_since: isUnsure ? db.fn.now() : null } : {};
  await db("comment_mirrors")
    .where(columns(mirror))
    .update({ held_until: null, ...unsure, ...(!isCounted && { tries: db.raw("tries - 1") }) });
}

/** Records the copy that a webhook reported. Its writer may have died before it got the response. */
export async function adoptMirror(db: Db, key: MirrorKey, forgeCommentId: number): Promise<void> {
  await db("comment_mirrors")
    .where(columns(key))
    .whereNull("forge_comment_id")
    // If another revision was written first, the copy is edited once without need.
    .update({ forge_comment_id: forgeCommentId, shown_revision: 0 });
}

/** Records that a copy was deleted on GitHub. */
export async function markMirrorDeleted(db: Db, key: MirrorKey): Promise<void> {
  await db("comment_mirrors").where(columns(key)).update({ gone: true });
}

/** The comment whose mirror this GitHub comment is, or null. */
export async function findMirroredComment(
  db: Db,
  repositoryId: string,
  forgeCommentId: number,
): Promise<string | null> {
  return firstValue<string>(
    db,
    `select comment_id as "commentId" from comment_mirrors
      where repository_id = :repositoryId and forge_comment_id = :forgeCommentId`,
    { repositoryId, forgeCommentId },
  );
}

const columns = ({ commentId, repositoryId, prNumber }: MirrorKey): Record<string, unknown> => ({
  comment_id: commentId,
  repository_id: repositoryId,
  pr_number: prNumber,
});

/** A secret that a migration generated and that only the database stores. */
export async function readSecret(db: Db, name: "comment_marks"): Promise<Buffer> {
  const secret = await firstValue<Buffer>(db, "select value from secrets where name = :name", { name });
  if (!secret) throw new Error(`There is no secret ${name}.`);
  return secret;
}
