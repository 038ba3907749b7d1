import { z } from "zod";
import { CERTAINTIES, previewMove, STEP_ACTIONS } from "../../actions/moves/preview-move.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { blockedReason, problem, role } from "./shapes.ts";

const step = z
  .object({
    action: z.enum(STEP_ACTIONS).meta({
      description:
        "`restore_branch` makes the card's branch again where the forge deleted it after an earlier merge",
    }),
    fullName: z.string().meta({ example: "acme/web" }),
    branchName: z.string().meta({
      description: "The card's branch. One still to be cut may get `-2` where the name turns out to be taken",
      example: "card/7-say-hello",
    }),
    targetBranch: z.string().meta({ example: "main" }),
    prNumber: z.int().nullable().meta({ description: "null while the pull request is still to be opened" }),
  })
  .meta({ id: "MovePlanStep" });

const movePlan = z
  .object({
    wouldMove: z.boolean(),
    certainty: z.enum(CERTAINTIES).meta({
      description:
        "How far `wouldMove` can be relied on. `certain`: it follows from what is known. `likely`: the forge has the last word, as its protection rules show only when they are tried. `unknown`: the forge is still working out whether the branch can be merged, or does not show a pull request yet that was heard of (ask again in a few seconds), or a pull request must be opened before that can be told",
    }),
    steps: z.array(step).meta({ description: "What the move would do on the forge, in this order" }),
    reasons: z.array(blockedReason).meta({
      description:
        "What stands in the way, as `blocked.reasons` would list it, but for the files of conflicts",
    }),
    requiredRole: role.meta({ description: "The least role that may move a card into this stage" }),
    heldRole: role.meta({ description: "This credential's role on the board" }),
  })
  .meta({
    id: "MovePlan",
    example: {
      wouldMove: true,
      certainty: "likely",
      steps: [
        {
          action: "merge",
          fullName: "acme/web",
          branchName: "card/7-say-hello",
          targetBranch: "main",
          prNumber: 12,
        },
      ],
      reasons: [],
      requiredRole: "member",
      heldRole: "maintainer",
    },
  });

export const movePlanRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/cards/{number}/move-plan",
    summary: "What a move would do, without doing it",
    description:
      "Looks at the forge once and plans as `POST /v1/cards/{number}/move` does. Nothing is changed, here or on the forge. Whether another call is moving the card just now is not looked at.",
    tag: "Cards",
    params: cardParams,
    query: z.object({ statusId: id().meta({ description: "The stage, from GET /v1/board" }) }),
    responses: {
      200: { description: "The plan", schema: movePlan },
      503: { description: "The forge could not be reached; make the same call again", schema: problem },
    },
    handle: async (deps, { board, params, query }) =>
      previewMove(deps, await cardOf(deps.db, board, params), board.role, query.statusId),
  }),
];
