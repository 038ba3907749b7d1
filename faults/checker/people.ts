import { readRef } from "../../sandbox/forge/git/refs.ts";
import { storedBody } from "../../src/actions/comments/comment-mark.ts";
import { rows } from "../../src/store/db/connect.ts";
import { HIDE_COMMENT } from "../actors/comment-actions.ts";
import { SAME_NAME, type UnchangedRef } from "../actors/ref-actions.ts";
import type { Invariant } from "./subject.ts";

// Invariant: I9
/**
 * A ref that a person created with the name of another one, such as a tag with the name of a card's
 * branch, is where the person put it.
 */
export const refsOfPeopleStay: Invariant = async ({ world, history }) => {
  const created = history.events
    .filter(({ name }) => name === SAME_NAME)
    .map(({ detail }) => detail as UnchangedRef)
    .filter(({ status }) => status < 300);
  const found: string[] = [];
  for (const { forgeId, ref, sha } of created) {
    const now = await readRef(world.forge.context.git.repository(forgeId), ref);
    if (now !== sha) found.push(`${ref} of ${forgeId} was created at ${sha}, but is at ${now ?? "nothing"}`);
  }
  return found;
};

interface CommentRow {
  readonly card: number;
  readonly forgeId: number;
  readonly commentId: number;
  readonly body: string;
  readonly isEdited: boolean;
  /** Whether repair compares the comments of its pull request. */
  readonly isCompared: boolean;
}

// Invariant: I20 Comments are as on GitHub, and a hidden comment is not an edited one
export const commentsMatchForge: Invariant = async ({ world, history }) => {
  const { comments } = world.forge.context.state;
  const edited = new Set(
    history.events
      .filter(({ name, type }) => type === "person" && name === "editComment")
      .map(({ detail }) => Number(/\d+$/.exec((detail as { asked: string }).asked)?.[0])),
  );
  const hidden = history.events
    .filter(({ name }) => name === HIDE_COMMENT)
    .map(({ detail }) => (detail as { commentId: number }).commentId);
  const stored = await rows<CommentRow>(
    world.deps.db,
    `select c.number as card, r.forge_id as "forgeId", split_part(t.natural_key, ':', 3)::float8 as "commentId",
            t.body, t.edited_at is not null as "isEdited",
            s.kind <> 'done' and p.state in ('draft', 'open') as "isCompared"
       from timeline_items t join cards c on c.id = t.card_id and c.deleted_at is null
       join stages s on s.id = c.stage_id
       join repositories r on r.id = t.repository_id
       join pull_requests p on p.repository_id = r.id and p.number = (t.data->>'prNumber')::int
      where t.type = 'comment' and t.login is not null and t.deleted_at is null`,
  );
  return stored.flatMap(({ card, commentId, body, isEdited, isCompared }) => {
    const there = comments.get(commentId);
    const isHiddenOnly = hidden.includes(commentId) && !edited.has(commentId);
    return [
      ...(isHiddenOnly && isEdited ? [`card ${card}: the hidden comment ${commentId} counts as edited`] : []),
      ...(isCompared && there === undefined
        ? [`card ${card}: the comment ${commentId} is deleted on the forge`]
        : []),
      ...(isCompared && there !== undefined && storedBody(there.body) !== body
        ? [
            `card ${card}: the comment ${commentId} is "${there.body}" on the forge, but "${body}" in Trunkline`,
          ]
        : []),
    ];
  });
};
