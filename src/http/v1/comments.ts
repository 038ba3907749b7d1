import { z } from "zod";
import { commentOnCard, sayOnCard } from "../../actions/comment-on-card.ts";
import type { Deps } from "../../actions/deps.ts";
import { editComment } from "../../actions/edit-comment.ts";
import { notFound } from "../../errors.ts";
import { findComment, type CommentHead } from "../../store/comments.ts";
import type { BoardRole } from "../../store/credentials.ts";
import { cardOf, cardParams } from "../card-of.ts";
import { writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { actor, timestamp } from "./shapes.ts";

const comment = z
  .object({
    id: z.uuid(),
    body: z.string(),
    author: actor,
    mirroredTo: z.int().meta({ description: "How many pull requests show it as it is now" }),
    editable: z.boolean(),
    at: timestamp,
    editedAt: timestamp.nullable(),
  })
  .meta({ id: "Comment" });

const fields = z.strictObject({
  body: text({ min: 1, max: 10_000 })
    .refine((body) => body === "" || body.trim() !== "", "must not be blank")
    .meta({ description: "Markdown" }),
});

const createRoute = writeRoute({
  method: "post",
  path: "/v1/cards/{number}/comments",
  summary: "Comment on a card",
  description:
    "The comment is mirrored to each open pull request of the card, drafts included, under its author's name and without mentioning anybody there. What the forge refuses or does not answer within 5 seconds is mirrored later; `mirroredTo` counts what was reached by then.",
  tag: "Cards",
  role: "member",
  params: cardParams,
  body: fields,
  responses: { 201: { description: "The comment", schema: comment } },
  atOnce: (deps, { asker, params, body }) => sayOnCard(deps, asker, params.number, body.body),
  find: cardOf,
  handle: (deps, { caller, subject, body }) => commentOnCard(deps, caller, subject, body.body),
});

const commentParams = cardParams.extend({ commentId: id() });

async function commentOf(
  deps: Deps,
  board: BoardRole,
  params: z.output<typeof commentParams>,
): Promise<CommentHead> {
  const { id: cardId, number } = await cardOf(deps, board, params);
  const found = await findComment(deps.db, cardId, params.commentId);
  if (!found) throw notFound(`Card ${number} has no comment with this id.`);
  return found;
}

const editRoute = writeRoute({
  method: "patch",
  path: "/v1/cards/{number}/comments/{commentId}",
  summary: "Edit one's own comment",
  description: "Its mirrors follow, as when it was written.",
  tag: "Cards",
  role: "member",
  params: commentParams,
  body: fields,
  responses: { 200: { description: "The comment", schema: comment } },
  find: commentOf,
  handle: (deps, { caller, subject, body }) => editComment(deps, caller, subject, body.body),
});

export const commentRoutes: readonly Route[] = [createRoute, editRoute];
