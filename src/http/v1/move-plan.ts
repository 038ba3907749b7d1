import { z } from "zod";
import { CERTAINTIES, previewMove, STEP_ACTIONS } from "../../actions/moves/preview-move.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { blockedReason } from "./details.ts";
import { problem, role } from "./shapes.ts";

const step = z
  .object({
    action: z.enum(STEP_ACTIONS).meta({
      description:
        "`restore_branch` creates the card's branch again after GitHub deleted it on an earlier merge",
    }),
    fullName: z.string(),
    branchName: z.string().meta({
      description: "The card's branch. A new branch gets the suffix `-2` if the name is taken",
    }),
    targetBranch: z.string(),
    prNumber: z.int().nullable().meta({ description: "null before the pull request is opened" }),
  })
  .meta({ id: "MovePlanStep" });

const movePlan = z
  .object({
    wouldMove: z.boolean(),
    certainty: z.enum(CERTAINTIES).meta({
      description:
        "How reliable `wouldMove` is. `certain`: Trunkline has all facts. `likely`: GitHub may still refuse, because some of its rules apply only when the merge is tried. `unknown`: the move has to open the pull request first, or GitHub is still computing whether the branch can be merged, or does not show a new pull request yet. For the last two, try again in a few seconds",
    }),
    steps: z.array(step).meta({ description: "The changes the move would make on GitHub, in order" }),
    reasons: z.array(blockedReason).meta({
      description: "What would refuse the move, as in `blocked.reasons`, without the files of conflicts",
    }),
    warnings: z.array(z.object({ repository: z.string(), message: z.string() })).meta({
      description:
        "Rules of the targets that Trunkline cannot evaluate and the App may be able to bypass, each with its ruleset",
    }),
    whenReady: z
      .object({
        wouldArm: z.boolean().meta({ description: "Whether it would wait" }),
        certainty: z.enum(["certain", "likely"]).meta({
          description:
            "`likely` if it would wait: the target branch may change, and GitHub decides at the merge",
        }),
        waitingFor: z.array(blockedReason),
      })
      .meta({ description: "What a move with `whenReady` would do" }),
    requiredRole: role.meta({ description: "The minimum role for moves into this stage" }),
    heldRole: role.meta({ description: "This credential's role on the board" }),
  })
  .meta({ id: "MovePlan" });

export const movePlanRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/cards/{number}/move-plan",
    summary: "Preview a move",
    description:
      "Reads GitHub, as the checks do, and makes the same plan as `POST /v1/cards/{number}/move`, without changing anything or waiting until GitHub has computed mergeability. Does not check whether another call is moving the card.",
    tag: "Cards",
    params: cardParams,
    query: z.object({
      statusId: id().meta({ description: "A stage of the project's flow" }),
    }),
    responses: {
      200: { description: "The plan", schema: movePlan },
      503: { description: "GitHub could not be reached; make the same call again", schema: problem },
    },
    handle: async (deps, { board, params, query, credential: { userId, isHuman } }) => {
      const caller = { heldRole: board.role, actorId: userId, isHuman };
      return previewMove(deps, await cardOf(deps.db, board, params), caller, query.statusId);
    },
  }),
];
