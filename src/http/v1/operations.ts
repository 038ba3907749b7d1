import { z } from "zod";
import { notFound } from "../../errors.ts";
import { REFUSAL_REASONS } from "../../flow/refusal.ts";
import { findAction } from "../../store/releases/release-actions.ts";
import { readPromotion } from "../../store/releases/release-promotions.ts";
import { readRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { landed, promotion } from "./shapes.ts";

export const promotionOutcome = z
  .object({
    promoted: z
      .array(
        z.object({
          number: z.int(),
          statusId: z.uuid(),
          promoted: z.array(promotion),
          alreadyMerged: z.array(landed).optional(),
        }),
      )
      .meta({ description: "Cards that were moved, and what their moves merged" }),
    refused: z
      .array(
        z.object({
          number: z.int(),
          repository: z
            .string()
            .nullable()
            .meta({ description: "The repository that refused", example: "acme/web" }),
          reason: z.enum(REFUSAL_REASONS),
          message: z.string().meta({ description: "The forge's wording, where it gave one" }),
          promoted: z
            .array(promotion)
            .optional()
            .meta({ description: "What was merged before another repository refused" }),
          alreadyMerged: z.array(landed).optional(),
        }),
      )
      .meta({ description: "Cards that stay where they were, with `blocked` set" }),
    skipped: z
      .array(
        z.object({
          number: z.int(),
          reason: z.enum(["already_there", "being_moved", "deleted", "stage_removed"]),
        }),
      )
      .meta({ description: "Cards that were left alone" }),
    pending: z
      .array(z.int())
      .meta({ description: "Cards whose turn comes, or whose merge the forge has queued" }),
    operationId: z
      .uuid()
      .nullable()
      .meta({ description: "Where the rest is told; null when nothing is pending" }),
  })
  .meta({ id: "PromotionOutcome" });

const readOperationRoute = readRoute({
  path: "/v1/operations/{operationId}",
  summary: "What a promotion has come to so far",
  tag: "Releases",
  params: z.object({ operationId: id() }),
  responses: { 200: { description: "What became of each card so far", schema: promotionOutcome } },
  handle: async (deps, { board, params }) => {
    const action = await findAction(deps.db, board.workspaceId, params.operationId);
    if (action?.kind !== "promote") throw notFound("There is no operation with this id on this board.");
    return readPromotion(deps.db, action.id);
  },
});

export const operationRoutes: readonly Route[] = [readOperationRoute];
