import type { RepositoryRef } from "../../forge/values.ts";
import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import { READS_LAG } from "../forge/pull-requests.ts";
import { REF, hasUsableLink } from "../forge/repositories.ts";

/** A comment that a pull request does not show as it is now, and all it takes to write it there. */
export interface DueMirror {
  readonly commentId: string;
  readonly repositoryId: string;
  readonly prNumber: number;
  /** Null while the installation is gone, or no longer grants the repository. */
  readonly ref: RepositoryRef | null;
  readonly forgeId: number;
  /** Null before it is known to have been written. */
  readonly forgeCommentId: number | null;
  /** When the first try began. */
  readonly triedSince: Date;
  /** Whether an earlier try may have written it. */
  readonly isRepeated: boolean;
  /**
   * Whether what an earlier try has written would be shown by now, so that it may be written where
   * nothing is.
   */
  readonly mayWrite: boolean;
  readonly revision: number;
  readonly body: string;
  readonly authorName: string;
  readonly cardNumber: number;
}

/** After so many tries, for about a day, one is given up until the comment is edited. */
const MAX_TRIES = 33;

/** SQL that is true of a mirror `m` of a comment `t` that is yet to follow it. */
const IS_DUE = `not m.gone and m.shown_revision is distinct from t.revision and m.tries < ${MAX_TRIES}`;

type MirrorKey = Pick<DueMirror, "commentId" | "repositoryId" | "prNumber">;

/**
 * Takes on the mirrors of a comment that are due, for `holdSeconds`, and counts the try: what is
 * taken on is written down before it is done. Those somebody else is at work on are left to them.
 */
export async function takeDueMirrors(db: Db, commentId: string, holdSeconds: number): Promise<DueMirror[]> {
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
               due.first_tried_at is not null as "isRepeated", due.may_write as "mayWrite",
               t.revision, t.body, u.name as "authorName", c.number as "cardNumber",
               case when ${hasUsableLink("t.card_id", "m.repository_id")} then ${REF} end as ref`,
    { commentId, holdSeconds },
  );
}

/**
 * How often the mirrors of a comment that are still due were tried, at most; null when none is due.
 */
export async function triesOfDueMirrors(db: Db, commentId: string): Promise<number | null> {
  return firstValue<number>(
    db,
    `select max(m.tries) as tries from comment_mirrors m join timeline_items t on t.id = m.comment_id
      where m.comment_id = :commentId and ${IS_DUE}`,
    { commentId },
  );
}

/** The pull request shows this revision of the comment. */
export async function settleMirror(
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
 * A try has failed: the next may begin. `isUnsure` says that it may have written it all the same.
 */
export async function letGoOfMirror(
  db: Db,
  mirror: MirrorKey & Pick<DueMirror, "mayWrite">,
  isUnsure: boolean,
): Promise<void> {
  const unsure = mirror.mayWrite ? { unsure_since: isUnsure ? db.fn.now() : null } : {};
  await db("comment_mirrors")
    .where(columns(mirror))
    .update({ held_until: null, ...unsure });
}

/**
 * Records that the forge shows a mirror, because it told so: whoever wrote it may have died before
 * the answer came.
 */
export async function adoptMirror(db: Db, key: MirrorKey, forgeCommentId: number): Promise<void> {
  await db("comment_mirrors")
    .where(columns(key))
    .whereNull("forge_comment_id")
    // It was written with the first revision, unless that could not be mirrored; then it is edited once for nothing.
    .update({ forge_comment_id: forgeCommentId, shown_revision: 0 });
}

/** Records that a mirror was deleted on the forge. */
export async function dropMirror(db: Db, key: MirrorKey): Promise<void> {
  await db("comment_mirrors").where(columns(key)).update({ gone: true });
}

/** The comment of which this comment on the forge is a mirror, or null. */
export async function findMirrored(
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

/** A secret that was generated with the database and is stored nowhere else. */
export async function readSecret(db: Db, name: "comment_marks"): Promise<Buffer> {
  const secret = await firstRow<{ value: Buffer }>(db, "select value from secrets where name = :name", {
    name,
  });
  if (!secret) throw new Error(`no secret ${name}`);
  return secret.value;
}
