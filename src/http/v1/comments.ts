import { z } from "zod";
import { commentOnCard, editComment } from "../../actions/comments/comments.ts";
import { notFound } from "../../errors.ts";
import { isBlank } from "../../flow/text.ts";
import { findComment, type CommentHead } from "../../store/events/comments.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { cardOf, cardParams } from "../resolve.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { actor, timestamp } from "./shapes.ts";

const comment = z
  .object({
    id: z.uuid(),
    body: z.string(),
    author: actor,
    mirroredTo: z.int().meta({ description: "The number of pull requests that show its current text" }),
    editable: z.boolean(),
    at: timestamp,
    editedAt: timestamp.nullable(),
  })
  .meta({ id: "Comment" });

const fields = z.strictObject({
  body: text({ min: 1, max: 10_000 })
    .refine((body) => body === "" || !isBlank(body), "must not be blank")
    .meta({ description: "Markdown" }),
});

const commentParams = cardParams.extend({ commentId: id() });

async function commentOf(
  db: Db,
  board: BoardRole,
  params: z.output<typeof commentParams>,
): Promise<CommentHead> {
  const { id: cardId, number } = await cardOf(db, board, params);
  const found = await findComment(db, cardId, params.commentId);
  if (!found) throw notFound(`Card ${number} has no comment with this id.`);
  return found;
}

export const commentRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/cards/{number}/comments",
    summary: "Comment on a card",
    description:
      "Mirrors the comment to each open pull request of the card, including drafts, with its author's name. Mentions in it notify no one on GitHub. If GitHub refuses or does not respond within 5 seconds, the comment is mirrored later; `mirroredTo` counts the pull requests that have it.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    body: fields,
    responses: { 201: { description: "The comment", schema: comment } },
    find: cardOf,
    handle: (deps, { write, subject, body }) => commentOnCard(deps, write, subject, body.body),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/cards/{number}/comments/{commentId}",
    summary: "Edit a comment",
    description:
      "Only the author can edit a comment. Its mirrors are updated in the same way as they were created.",
    tag: "Cards",
    role: "member",
    params: commentParams,
    body: fields,
    responses: { 200: { description: "The comment", schema: comment } },
    find: commentOf,
    handle: (deps, { write, subject, body }) => editComment(deps, write, subject, body.body),
  }),
];
