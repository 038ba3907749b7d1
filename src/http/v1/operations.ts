import { z } from "zod";
import {
  cancelPromotion,
  findReleaseOperation,
  noSuchOperation,
} from "../../actions/releases/cancel-promotion.ts";
import { listOperations } from "../../store/ops/list-operations.ts";
import { OPERATION_KINDS, OPERATION_STATES } from "../../store/ops/operations.ts";
import { readPromotion } from "../../store/releases/release-promotions.ts";
import { keyedListRoute } from "../list-route.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { writeRoute } from "../write-route.ts";
import { promotionOutcome } from "./releases/release-operations.ts";
import { problem, timestamp, user } from "./shapes.ts";

const state = z.enum(OPERATION_STATES).meta({
  description:
    "`queued`: GitHub has accepted the merge and finishes it later. `waiting`: the move is armed, for checks and reviews. `abandoned`: another move or a cancellation took its place, or it failed repeatedly",
});

const operation = z
  .object({
    id: z.uuid(),
    kind: z.enum(OPERATION_KINDS),
    subject: z
      .discriminatedUnion("type", [
        z.object({ type: z.literal("card"), number: z.int(), title: z.string() }),
        z.object({ type: z.literal("release"), id: z.uuid(), name: z.string() }),
      ])
      .nullable()
      .meta({ description: "The card of a move, or the release; null if the release was deleted" }),
    state,
    by: user,
    progress: z
      .object({
        done: z.int(),
        total: z.int().nullable().meta({ description: "null if it is decided while the operation runs" }),
      })
      .nullable()
      .meta({ description: "Of a move its merges, of a promotion its cards; null for other kinds" }),
    startedAt: timestamp,
  })
  .meta({ id: "Operation" });

export const operationRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/operations",
    summary: "List operations",
    description:
      "Long work, which continues if the process that runs it ends: moves with effects on GitHub, also armed ones, and what is done to releases. Ended operations are kept for some months.",
    tag: "Operations",
    query: z.object({
      state: state.optional(),
      card: cardParams.shape.number
        .optional()
        .meta({ description: "Only moves and picks of the card with this number" }),
    }),
    list: { description: "Newest first", schema: z.array(operation) },
    key: z.uuid(),
    handle: async (deps, { board, query: { state: wanted = null, card } }, window) => {
      const cardId = card === undefined ? null : (await cardOf(deps.db, board, { number: card })).id;
      return listOperations(deps.db, board.workspaceId, { state: wanted, cardId }, window);
    },
  }),
  readRoute({
    path: "/v1/operations/{operationId}",
    summary: "Get the progress of a promotion",
    tag: "Operations",
    params: z.object({ operationId: id() }),
    responses: { 200: { description: "The result of each card so far", schema: promotionOutcome } },
    handle: async (deps, { board, params }) => {
      const found = await findReleaseOperation(deps.db, board, params);
      if (found.kind !== "promote") throw noSuchOperation();
      return readPromotion(deps.db, found.id);
    },
  }),
  writeRoute({
    method: "post",
    path: "/v1/operations/{operationId}/cancel",
    summary: "Cancel a promotion",
    description:
      "A card that is being moved finishes. The cards that follow stay in their stage and are `skipped` with the reason `cancelled`, shortly after the response: poll `GET /v1/operations/{operationId}` until nothing is pending. Needs the role that the stage of the promotion requires.",
    tag: "Operations",
    role: "member",
    params: z.object({ operationId: id() }),
    responses: {
      200: { description: "The result of each card so far", schema: promotionOutcome },
      409: { description: "The promotion has ended, or the operation is not a promotion", schema: problem },
    },
    find: findReleaseOperation,
    handle: (_, { write, subject }) => cancelPromotion(write, subject),
  }),
];
