import { z } from "zod";
import { createCard } from "../../actions/cards/create-card.ts";
import { deleteCard, updateCard } from "../../actions/cards/update-card.ts";
import { moveCard } from "../../actions/moves/move-card.ts";
import { readCardJson } from "../../store/cards/cards.ts";
import { EVENT_KINDS, listTimeline } from "../../store/events/timeline.ts";
import { cardOf, cardParams, noCard, projectOf } from "../resolve.ts";
import { keyedListRoute } from "../list-route.ts";
import { readRoute, writeRoute, type Route } from "../route.ts";
import { JsonText } from "../json.ts";
import { day, id, text } from "../validate.ts";
import { actor, blocked, card, landed, priority, problem, promotion, timestamp } from "./shapes.ts";

const title = text({ min: 1, max: 500, isTrimmed: true });
const description = text({ max: 20_000 }).meta({
  description: "Markdown. The card carries the pages its `[[wiki links]]` lead to",
});

const repositoryIds = z.array(id()).max(100);

const related = {
  labelIds: z
    .array(id())
    .max(100)
    .optional()
    .meta({ description: "Labels of the board: the whole set, not a delta" }),
  featureId: id().nullable().optional().meta({ description: "A feature of the board; null for none" }),
  docIds: z
    .array(id())
    .max(100)
    .optional()
    .meta({ description: "Pages of the board that the card carries: the whole set, not a delta" }),
  priority: priority.optional(),
  assigneeId: id().nullable().optional().meta({ description: "A member of the board; null for nobody" }),
  dueDate: day().nullable().optional(),
  parentNumber: z
    .int()
    .nullable()
    .optional()
    .meta({ description: "A card of the same board; null for none" }),
};

const alreadyMerged = z.array(landed).optional().meta({
  description:
    "What was in the target of the stage's merges before, merged by an earlier call or by somebody; left out where nothing was. With `promoted` it is all that is there",
});

const moveResult = z
  .object({
    task: z.object({ number: z.int(), statusId: z.uuid(), blocked: blocked.nullable() }),
    promoted: z
      .array(promotion)
      .meta({ description: "What this call merged; empty when nothing was to merge" }),
    alreadyMerged,
    queued: z
      .array(promotion)
      .optional()
      .meta({ description: "Merges the forge has accepted and will finish later" }),
  })
  .meta({ id: "MoveResult" });

const refusal = problem
  .extend({ blocked: blocked.optional(), promoted: z.array(promotion).optional(), alreadyMerged })
  .meta({ id: "MoveRefusal" });

const happenedAt = timestamp.meta({
  description:
    "When it happened: by the forge's clock, in whole seconds, where it happened there, else by Trunkline's. Not what items are sorted by",
});

const timelineItem = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("event"),
      id: z.uuid(),
      kind: z.enum(EVENT_KINDS).meta({ description: "Skip a kind you do not know: new ones are added" }),
      actor,
      repositoryFullName: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
      at: happenedAt,
    }),
    z.object({
      type: z.literal("comment"),
      id: z.uuid(),
      body: z.string(),
      author: actor,
      editable: z.boolean(),
      at: happenedAt,
      editedAt: timestamp.nullable(),
    }),
  ])
  .meta({ id: "TimelineItem" });

export const cardRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/cards",
    summary: "Create a card",
    description:
      "Without `statusId` the card is a draft in the backlog and no Git runs. With one it is created and then moved there; when the forge refuses that move the answer is still 201 and the card stands in the backlog with `blocked` set.",
    tag: "Cards",
    role: "member",
    body: z.strictObject({
      title,
      description: description.optional(),
      projectId: id().optional().meta({ description: "Required when the board holds several projects" }),
      statusId: id().optional(),
      hotfix: z.boolean().optional().meta({ description: "Cut from the far end of the flow" }),
      repositoryIds: repositoryIds
        .optional()
        .meta({ description: "The whole set; without it the project's default ones" }),
      ...related,
    }),
    responses: { 201: { description: "The created card", schema: card } },
    handle: async (deps, { write, body: { projectId, ...input } }) =>
      createCard(deps, write, await projectOf(write.trx, write.workspaceId, projectId), input),
  }),
  readRoute({
    path: "/v1/cards/{number}",
    summary: "Read a card",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "The card", schema: card } },
    confirms: true,
    handle: async (deps, { cached, board, params: { number } }) => {
      const found = await readCardJson(deps.db, cached, board.workspaceId, number);
      if (found === null) throw noCard(number);
      return new JsonText(found);
    },
  }),
  writeRoute({
    method: "patch",
    path: "/v1/cards/{number}",
    summary: "Change a card",
    description: "Fields left out are untouched; null clears.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      title: title.optional(),
      description: description.optional(),
      repositoryIds: repositoryIds.optional().meta({
        description:
          "Repositories of the card's project, the whole set. Linking one to a card that stands in a stage with Git cuts its branch there; linked again, the card takes up the branch it had there",
      }),
      ...related,
    }),
    responses: {
      200: { description: "The whole card", schema: card },
      409: {
        description:
          "A repository to be unlinked has an open pull request, or the card is being moved (then with Retry-After)",
        schema: problem,
      },
    },
    find: cardOf,
    handle: (deps, { write, subject, body }) => updateCard(deps, write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}",
    summary: "Delete a card",
    description: "Hides it for good. Its number is not reused; its branch and pull request are left alone.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    responses: { 204: { description: "Deleted", schema: null } },
    find: cardOf,
    handle: (_, { write, subject }) => deleteCard(write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/cards/{number}/move",
    summary: "Move a card, running Git on the forge",
    description:
      "Cuts the branch, opens the pull request, marks it ready or merges it, as the target stage's rule says. When the forge refuses, the answer is 409, the card stays where it was and carries the reason in `blocked`.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      statusId: id().meta({ description: "The stage, from GET /v1/board" }),
      index: z
        .int()
        .min(0, "0 is the top of the column")
        .meta({ description: "Position in the target column; past the end is the end" }),
    }),
    responses: {
      200: { description: "Moved", schema: moveResult },
      202: { description: "The forge has queued a merge; the card moves when it lands", schema: moveResult },
      409: {
        description: "Refused by the forge, or another call is moving the card (then with Retry-After)",
        schema: refusal,
      },
      503: { description: "The forge could not be reached; make the same call again", schema: problem },
    },
    find: cardOf,
    handle: (deps, { write, subject, body }) => moveCard(deps, write, subject, body),
  }),
  keyedListRoute({
    path: "/v1/cards/{number}/timeline",
    summary: "What happened to a card, in the order recorded",
    tag: "Cards",
    params: cardParams,
    list: {
      description:
        "Oldest first, in the order recorded, which stays: show it as it comes. What was heard of late stands after what was recorded before, with an earlier `at`",
      schema: z.array(timelineItem),
    },
    key: z.int().min(1),
    handle: async (deps, { board, params, credential }, window) =>
      listTimeline(deps.db, (await cardOf(deps.db, board, params)).id, credential.userId, window),
  }),
];
