import { z } from "zod";
import { replaceFlow } from "../../actions/boards/flow.ts";
import { RULE_TYPES } from "../../flow/flow.ts";
import { MAX_BRANCH_PATTERN, MAX_STAGE_NAME, MAX_STAGES } from "../../flow/validate-flow.ts";
import { readRoute, writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { projectParams, thatProject } from "./projects.ts";
import { problem, role } from "./shapes.ts";

const ruleType = z.enum(RULE_TYPES).meta({
  description:
    "What standing in the stage means for the card's branch in every linked repository, each including the ones before it",
});
const kind = z
  .enum(["backlog", "stage", "done"])
  .meta({ description: "backlog is the first stage, where drafts stand, done the last" });
const into = z.string().nullable().meta({
  description:
    "Of a merge: the branch merged into, null for the repository's default branch. Two stages never merge into one branch",
});
const branchPattern = text({ max: MAX_BRANCH_PATTERN }).meta({
  description: "How a card's branch is named: {number} is the card's number, {slug} its title",
  example: "card/{number}-{slug}",
});

const settings = {
  releases: z.boolean(),
  branchPattern,
  mergeMethod: z
    .enum(["merge", "squash", "rebase"])
    .meta({ description: "squash and rebase only where one stage merges" }),
  checks: z
    .enum(["required", "ignored"])
    .meta({ description: "Whether red or pending checks keep a card from a merge stage" }),
  staleAfterDays: z.int().min(1, "1 to 365").max(365, "1 to 365"),
  agentSilenceHours: z.int().min(1, "1 to 720").max(720, "1 to 720"),
};

const flow = z
  .object({
    ...settings,
    stages: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        kind,
        minRole: role,
        rule: z.object({ type: ruleType, into }),
      }),
    ),
  })
  .meta({ id: "Flow", description: "The stages a project's cards go through, in their order" });

const stageInput = z.strictObject({
  id: id().optional().meta({ description: "A stage of this flow, which is kept; without one it is new" }),
  name: text({ min: 1, max: MAX_STAGE_NAME, isTrimmed: true }).meta({
    description: "Unique in the flow, ignoring case",
  }),
  kind,
  minRole: role.meta({ description: "The role needed to move a card into the stage" }),
  rule: z.strictObject({ type: ruleType, into: into.optional().transform((value) => value ?? null) }),
});

const readFlow = readRoute({
  path: "/v1/projects/{projectId}/flow",
  summary: "The flow of a project",
  tag: "Projects",
  params: projectParams,
  responses: { 200: { description: "The flow", schema: flow } },
  handle: async (deps, { board, params }) => (await thatProject(deps.db, board, params)).flow,
});

const replaceFlowRoute = writeRoute({
  method: "put",
  path: "/v1/projects/{projectId}/flow",
  summary: "Replace the flow of a project",
  description:
    "The whole flow: stages named by their id are kept with their cards, renamed and reordered; those without an id are new; the others are removed, which is refused while they hold cards. A changed rule holds for the cards that enter the stage from then on.",
  tag: "Projects",
  role: "maintainer",
  params: projectParams,
  body: z.strictObject({
    ...settings,
    stages: z.array(stageInput).max(MAX_STAGES, `at most ${MAX_STAGES} stages`),
  }),
  responses: {
    200: { description: "The flow as it is now", schema: flow },
    400: { description: "The flow cannot be: the message names the stage and says why", schema: problem },
    409: {
      description:
        "A stage to be removed still holds cards, or a card is being moved (then with Retry-After)",
      schema: problem,
    },
  },
  find: thatProject,
  handle: (deps, { write, subject, body }) => replaceFlow(deps, write, subject, body),
});

export const flowRoutes: readonly Route[] = [readFlow, replaceFlowRoute];
