import { z } from "zod";
import { findBranch } from "../../actions/boards/find-branch.ts";
import { countStageCards } from "../../store/cards/stage-cards.ts";
import { readRoute, type Route } from "../route.ts";
import { projectInPathOf, projectParams } from "../v1/projects.ts";
import { text } from "../validate.ts";

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

const foundBranch = z
  .object({
    repositoryId: z.uuid(),
    fullName: z.string(),
    exists: z.boolean().nullable().meta({ description: "null if GitHub did not say" }),
  })
  .meta({ id: "FoundBranch" });

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
  readRoute({
    path: "/console/v1/projects/{projectId}/branches",
    summary: "Ask GitHub in which repositories a branch exists",
    tag: "Console",
    params: projectParams,
    query: z.object({ name: text({ min: 1, max: 255 }) }),
    responses: {
      200: {
        description: "The first 100 repositories of the project, by name",
        schema: z.array(foundBranch),
      },
    },
    handle: async (deps, { board, params, query }) => {
      const { id } = await projectInPathOf(deps.db, board, params);
      return findBranch(deps, id, query.name);
    },
  }),
];
