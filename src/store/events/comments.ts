import { hasUsableLink } from "../forge/repositories.ts";
import { firstRow, type Db } from "../db/connect.ts";
import type { Actor, TimelineActor } from "./timeline.ts";

/** A comment as the API shows it to its author. */
export interface Comment {
  readonly id: string;
  readonly body: string;
  readonly author: TimelineActor;
  /** How many pull requests show it as it is now. */
  readonly mirroredTo: number;
  readonly editable: boolean;
  readonly at: Date;
  readonly editedAt: Date | null;
}

/** What an action needs to know of a comment before it changes it. */
export interface CommentHead {
  readonly id: string;
  readonly cardId: string;
  readonly authorId: string;
  /** Set when it was written on the forge. */
  readonly login: string | null;
}

/** A row of timeline_items named `t` that is a comment still to be seen. */
const IS_COMMENT = "t.type = 'comment' and t.deleted_at is null";

/** Its author in SQL, `u` being the user. */
const AUTHOR = `json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', u.kind), 'login', t.login)`;

/** The comment of a card with this id, or null. */
export async function findComment(db: Db, cardId: string, commentId: string): Promise<CommentHead | null> {
  return firstRow<CommentHead>(
    db,
    `select t.id, t.card_id as "cardId", t.actor_id as "authorId", t.login from timeline_items t
      where t.id = :commentId and t.card_id = :cardId and ${IS_COMMENT}`,
    { cardId, commentId },
  );
}

/** The comment as its author sees it. */
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
  if (!comment) throw new Error(`no comment ${commentId}`);
  return comment;
}

interface NewComment {
  readonly id: string;
  readonly cardId: string;
  readonly authorId: string;
  readonly body: string;
  /** The request that wrote it: its retry finds this comment instead of writing a second one. */
  readonly requestId: string;
}

const naturalKeyOf = (requestId: string): string => `comment_request:${requestId}`;

/**
 * Writes a comment, and what is to be mirrored: to each of the card's open pull requests. Gives it as its author sees it, or the one that an
 * earlier try of the same request wrote; null when the card was deleted meanwhile.
 */
export async function insertComment(
  db: Db,
  comment: NewComment,
): Promise<{ readonly comment: Comment; readonly isToBeMirrored: boolean } | null> {
  const bindings = { ...comment, naturalKey: naturalKeyOf(comment.requestId) };
  const added = await firstRow<Comment & { mirrors: number }>(db, INSERT, bindings);
  if (added) {
    const { mirrors, ...written } = added;
    return { comment: written, isToBeMirrored: mirrors > 0 };
  }
  const earlier = await firstRow<{ id: string; isForgotten: boolean }>(
    db,
    `select id, at < now() - interval '24 hours' as "isForgotten" from timeline_items
      where card_id = :cardId and natural_key = :naturalKey`,
    bindings,
  );
  if (!earlier) return null;
  if (earlier.isForgotten) {
    // A key is good for a day; after it, the same words under the same key are a new comment.
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
  mirrored as (
    insert into comment_mirrors (comment_id, repository_id, pr_number)
    select added.id, p.repository_id, p.number from added
      join pull_requests p on p.card_id = added.card_id and p.state in ('draft', 'open')
       and ${hasUsableLink("p.card_id", "p.repository_id")}
    returning 1)
  select t.id, t.body, ${AUTHOR} as author, 0 as "mirroredTo", true as editable, t.at, t.edited_at as "editedAt",
         (select count(*) from mirrored) as mirrors
    from added t join users u on u.id = t.actor_id`;

/** Changes what a comment says, and lets its mirrors follow; the same words again change nothing. */
export async function changeComment(db: Db, commentId: string, body: string): Promise<void> {
  await db.raw(
    `with changed as (
       update timeline_items set body = :body, revision = revision + 1, edited_at = now()
        where id = :commentId and body <> :body and deleted_at is null
       returning id)
     update comment_mirrors m set tries = 0 from changed where m.comment_id = changed.id`,
    { commentId, body },
  );
}

/** A comment as the forge tells of it. */
export interface ForgeComment {
  /** For a new one. */
  readonly id: string;
  readonly cardId: string;
  readonly repositoryId: string;
  readonly forgeCommentId: number;
  readonly prNumber: number;
  readonly author: Actor;
  readonly body: string;
  readonly writtenAt: string | null;
  readonly heardAt: string | null;
}

const forgeBindings = ({ author, ...comment }: ForgeComment): Record<string, unknown> => ({
  ...comment,
  actorId: author.userId,
  login: author.login,
  naturalKey: `comment:${comment.repositoryId}:${comment.forgeCommentId}`,
  data: JSON.stringify({ prNumber: comment.prNumber }),
});

/**
 * Records a comment written on the forge (`isEdited` false) or changed there. News may come in any order: the first version never
 * replaces a later one, older news changes nothing, and what was deleted stays so.
 */
export async function saveForgeComment(db: Db, comment: ForgeComment, isEdited: boolean): Promise<void> {
  await db.raw(
    `insert into timeline_items as t
            (id, card_id, type, actor_id, login, repository_id, data, body, at, edited_at, heard_at, natural_key)
     values (:id, :cardId, 'comment', :actorId, :login, :repositoryId, cast(:data as jsonb), :body,
             coalesce(cast(:writtenAt as timestamptz), now()),
             case when :isEdited then coalesce(cast(:heardAt as timestamptz), now()) end, :heardAt, :naturalKey)
     on conflict (card_id, natural_key) where natural_key is not null do update
       set body = excluded.body, edited_at = excluded.edited_at, heard_at = excluded.heard_at
       where :isEdited and t.deleted_at is null
         and (t.heard_at is null or excluded.heard_at is null or t.heard_at <= excluded.heard_at)`,
    { ...forgeBindings(comment), isEdited },
  );
}

/** Takes a comment that was deleted on the forge off the timeline. Its words are forgotten; its row keeps late news from bringing it back. */
export async function removeForgeComment(db: Db, comment: ForgeComment): Promise<void> {
  await db.raw(
    `insert into timeline_items as t
            (id, card_id, type, actor_id, login, repository_id, data, body, natural_key, deleted_at)
     values (:id, :cardId, 'comment', :actorId, :login, :repositoryId, cast(:data as jsonb), '', :naturalKey, now())
     on conflict (card_id, natural_key) where natural_key is not null do update
       set body = '', deleted_at = now()
       where t.deleted_at is null`,
    forgeBindings(comment),
  );
}
