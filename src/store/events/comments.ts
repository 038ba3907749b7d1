import { hasUsableLink } from "../forge/repositories.ts";
import { firstRow, type Db } from "../db/connect.ts";
import { feedTimelineItems } from "./feed.ts";
import type { TimelineActor } from "./event-kinds.ts";
import type { Actor } from "./timeline.ts";

/** A comment as the API shows it to its author. */
interface Comment {
  readonly id: string;
  readonly body: string;
  readonly author: TimelineActor;
  /** The number of pull requests that show its current revision. */
  readonly mirroredTo: number;
  readonly editable: boolean;
  readonly at: Date;
  readonly editedAt: Date | null;
}

/** What an action reads of a comment before it changes it. */
export interface CommentHead {
  readonly id: string;
  readonly cardId: string;
  readonly authorId: string;
  /** Null if it was written in Trunkline. */
  readonly login: string | null;
}

const IS_COMMENT = "t.type = 'comment' and t.deleted_at is null";

/** SQL for the author `u` of the comment `t`. */
const AUTHOR = `json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', u.kind), 'login', t.login)`;

export async function findComment(db: Db, cardId: string, commentId: string): Promise<CommentHead | null> {
  return firstRow<CommentHead>(
    db,
    `select t.id, t.card_id as "cardId", t.actor_id as "authorId", t.login from timeline_items t
      where t.id = :commentId and t.card_id = :cardId and ${IS_COMMENT}`,
    { cardId, commentId },
  );
}

export async function readComment(db: Db, commentId: string): Promise<Comment> {
  const comment = await firstRow<Comment>(
    db,
    `select t.id, t.body,
            ${AUTHOR} as author,
            (select count(*) from comment_mirrors m
              where m.comment_id = t.id and m.shown_revision = t.revision and not m.gone) as "mirroredTo",
            t.login is null as editable, t.at, t.edited_at as "editedAt"
       from timeline_items t join users u on u.id = t.actor_id
      where t.id = :commentId`,
    { commentId },
  );
  if (!comment) throw new Error(`There is no comment ${commentId}.`);
  return comment;
}

/** The id of the comment and, if it was written on GitHub, the number of its pull request. */
const COMMENT_DATA = "t.data || jsonb_build_object('commentId', t.id)";

interface NewComment {
  readonly id: string;
  readonly cardId: string;
  readonly authorId: string;
  readonly body: string;
  /** A retry of the request finds the comment instead of writing a second one. */
  readonly requestId: string;
}

/**
 * Inserts a comment and its mirrors on the card's open pull requests. Returns the comment, or the
 * one that an earlier attempt of the request inserted. Null if the card is deleted.
 */
export async function insertComment(
  db: Db,
  comment: NewComment,
): Promise<{ readonly comment: Comment; readonly isToBeMirrored: boolean } | null> {
  const bindings = { ...comment, naturalKey: `comment_request:${comment.requestId}` };
  const added = await firstRow<Comment & { mirrors: number }>(db, INSERT, bindings);
  if (added) {
    const { mirrors, ...written } = added;
    return { comment: written, isToBeMirrored: mirrors > 0 };
  }
  const earlier = await firstRow<{ id: string; isExpired: boolean }>(
    db,
    `select id, at < now() - interval '24 hours' as "isExpired" from timeline_items
      where card_id = :cardId and natural_key = :naturalKey`,
    bindings,
  );
  if (!earlier) return null;
  if (earlier.isExpired) {
    // Idempotency keys are valid for a day; later the same key means a new comment.
    await db("timeline_items").where({ id: earlier.id }).update({ natural_key: null });
    return insertComment(db, comment);
  }
  return { comment: await readComment(db, earlier.id), isToBeMirrored: true };
}

const INSERT = `
  with added as (
    insert into timeline_items (id, card_id, type, actor_id, body, natural_key)
    select :id, c.id, 'comment', :authorId, :body, :naturalKey from cards c
     where c.id = :cardId and c.deleted_at is null
    on conflict (card_id, natural_key) where natural_key is not null do nothing
    returning *),
  fed as (${feedTimelineItems("added", { kind: "'comment'", data: COMMENT_DATA, at: "t.at" })}),
  mirrored as (
    insert into comment_mirrors (comment_id, repository_id, pr_number)
    select added.id, p.repository_id, p.number from added
      join pull_requests p on p.card_id = added.card_id and p.state in ('draft', 'open')
       and ${hasUsableLink("p.card_id", "p.repository_id")}
    returning 1)
  select t.id, t.body, ${AUTHOR} as author, 0 as "mirroredTo", true as editable, t.at, t.edited_at as "editedAt",
         (select count(*) from mirrored) as mirrors
    from added t join users u on u.id = t.actor_id`;

/** Changes the text of a comment, so that its mirrors become due. The same text changes nothing. */
export async function changeComment(db: Db, commentId: string, body: string): Promise<void> {
  await db.raw(
    `with changed as (
       update timeline_items set body = :body, revision = revision + 1, edited_at = now()
        where id = :commentId and body <> :body and deleted_at is null
       returning *),
     fed as (${feedTimelineItems("changed", { kind: "'comment_edited'", data: COMMENT_DATA, at: "t.edited_at" })})
     update comment_mirrors m set tries = 0 from changed where m.comment_id = changed.id`,
    { commentId, body },
  );
}

/** A comment on GitHub. */
interface ForgeComment {
  /** The id if it is new. */
  readonly id: string;
  readonly cardId: string;
  readonly repositoryId: string;
  readonly forgeCommentId: number;
  readonly prNumber: number;
  readonly author: Actor;
  readonly body: string;
  readonly writtenAt: string | null;
  readonly eventAt: string | null;
}

const forgeBindings = ({ author, ...comment }: ForgeComment): Record<string, unknown> => ({
  ...comment,
  actorId: author.userId,
  login: author.login,
  naturalKey: `comment:${comment.repositoryId}:${comment.forgeCommentId}`,
  data: JSON.stringify({ prNumber: comment.prNumber }),
});

/**
 * Saves a comment that was written or (`isEdited`) changed on GitHub. Events may arrive in any
 * order: an older one changes nothing, and a deleted comment stays deleted.
 */
export async function saveForgeComment(db: Db, comment: ForgeComment, isEdited: boolean): Promise<void> {
  await db.raw(
    `with saved as (
       insert into timeline_items as t
              (id, card_id, type, actor_id, login, repository_id, data, body, at, edited_at, event_at, natural_key)
       values (:id, :cardId, 'comment', :actorId, :login, :repositoryId, cast(:data as jsonb), :body,
               coalesce(cast(:writtenAt as timestamptz), now()),
               case when :isEdited then coalesce(cast(:eventAt as timestamptz), now()) end, :eventAt, :naturalKey)
       on conflict (card_id, natural_key) where natural_key is not null do update
         set body = excluded.body, edited_at = excluded.edited_at, event_at = excluded.event_at
         where :isEdited and t.deleted_at is null
           and (t.event_at is null or excluded.event_at is null or t.event_at <= excluded.event_at)
       returning *)
     ${feedTimelineItems("saved", {
       kind: "case when t.id = :id then 'comment' else 'comment_edited' end",
       data: COMMENT_DATA,
       at: "case when t.id = :id then t.at else t.edited_at end",
     })}`,
    { ...forgeBindings(comment), isEdited },
  );
}

/** Deletes the text of a comment. Its row prevents that a late event restores it. */
export async function removeForgeComment(db: Db, comment: ForgeComment): Promise<void> {
  await db.raw(
    `with removed as (
       insert into timeline_items as t
              (id, card_id, type, actor_id, login, repository_id, data, body, natural_key, deleted_at)
       values (:id, :cardId, 'comment', :actorId, :login, :repositoryId, cast(:data as jsonb), '', :naturalKey, now())
       on conflict (card_id, natural_key) where natural_key is not null do update
         set body = '', deleted_at = now()
         where t.deleted_at is null
       returning *)
     ${feedTimelineItems("removed", { kind: "'comment_deleted'", data: COMMENT_DATA, at: "t.deleted_at" })}`,
    forgeBindings(comment),
  );
}
