import { z } from "zod";
import { countStageCards } from "../../store/cards/stage-cards.ts";
import { readRoute, type Route } from "../route.ts";
import { projectInPathOf, projectParams } from "../v1/projects.ts";

const counted = z.object({
  count: z.int(),
  numbers: z.array(z.int()).meta({ description: "Of the first cards" }),
});

const stageCards = z
  .object({
    id: z.uuid(),
    cards: counted.meta({ description: "In the stage" }),
    armed: counted.meta({ description: "With an armed move into the stage" }),
  })
  .meta({ id: "StageCards" });

/** What a change of the flow concerns. */
export const stageRoutes: readonly Route[] = [
  readRoute({
    path: "/console/v1/projects/{projectId}/stages",
    summary: "Count the cards of each stage",
    tag: "Console",
    params: projectParams,
    responses: { 200: { description: "The stages in order", schema: z.array(stageCards) } },
    handle: async ({ db }, { board, params }) => {
      const { id } = await projectInPathOf(db, board, params);
      return countStageCards(db, id);
    },
  }),
];
