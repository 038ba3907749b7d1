import { z } from "zod";
import { replaceFlow } from "../../actions/boards/flow.ts";
import { changeProject, createProject, deleteProject } from "../../actions/boards/projects.ts";
import { RULE_TYPES } from "../../flow/flow.ts";
import { MAX_BRANCH_PATTERN, MAX_STAGE_NAME, MAX_STAGES } from "../../flow/validate-flow.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { listProjects, type Project } from "../../store/cards/projects.ts";
import { listRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, type Route, writeRoute } from "../route.ts";
import { id, text } from "../validate.ts";
import { problem, role, timestamp } from "./shapes.ts";

export const projectParams = z.object({ projectId: id() });

/** The project an address names; another board's is as unknown as one that never was. */
export const thatProject = (
  db: Db,
  board: BoardRole,
  { projectId }: { projectId: string },
): Promise<Project> => projectOf(db, board.workspaceId, projectId);

const project = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    repositoryCount: z.int(),
    taskCount: z.int(),
    createdAt: timestamp,
  })
  .meta({ id: "Project" });

export const projectInPath = { params: projectParams, find: thatProject };

const name = text({ min: 1, max: 80, isTrimmed: true });
const description = text({ max: 20_000 }).meta({ description: "Markdown" });
const slug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "lower-case letters and digits, words joined by single hyphens")
  .max(50, "at most 50 characters")
  .meta({ description: "Unique on the board", example: "mobile-app" });

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

export const projectRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/projects",
    summary: "The projects of the board, oldest first",
    tag: "Projects",
    list: { description: "The projects", schema: z.array(project) },
    handle: (deps, { board }) => listProjects(deps.db, board.workspaceId),
  }),
  writeRoute({
    method: "post",
    path: "/v1/projects",
    summary: "Create a project",
    description:
      "It starts from the flow of the board's oldest project, or of `flowFrom`, and owns it from then on. Without a `slug` one is made from the name, with -2, -3 … behind it where it is taken.",
    tag: "Projects",
    role: "maintainer",
    body: z.strictObject({
      name,
      slug: slug.optional(),
      description: description.optional(),
      flowFrom: id().optional().meta({ description: "A project of this board whose flow is copied" }),
    }),
    responses: {
      201: { description: "The created project", schema: project },
      409: { description: "Another project has the slug", schema: problem },
    },
    handle: async (deps, { write, body: { flowFrom, ...input } }) =>
      createProject(
        deps,
        write,
        input,
        flowFrom === undefined ? undefined : await projectOf(write.trx, write.workspaceId, flowFrom),
      ),
  }),
  writeRoute({
    method: "patch",
    path: "/v1/projects/{projectId}",
    summary: "Change a project",
    description: "Fields left out are untouched. A new name leaves the slug as it is.",
    tag: "Projects",
    role: "maintainer",
    ...projectInPath,
    body: z.strictObject({
      name: name.optional(),
      slug: slug.optional(),
      description: description.optional(),
    }),
    responses: {
      200: { description: "The whole project", schema: project },
      409: { description: "Another project has the slug", schema: problem },
    },
    handle: (_, { write, subject, body }) => changeProject(write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/projects/{projectId}",
    summary: "Delete a project",
    description: "Its repositories are free for another project.",
    tag: "Projects",
    role: "maintainer",
    ...projectInPath,
    responses: {
      204: { description: "Deleted", schema: null },
      409: { description: "It still holds cards, or is the last project of the board", schema: problem },
    },
    handle: (_, { write, subject }) => deleteProject(write, subject),
  }),
  readRoute({
    path: "/v1/projects/{projectId}/flow",
    summary: "The flow of a project",
    tag: "Projects",
    params: projectParams,
    responses: { 200: { description: "The flow", schema: flow } },
    handle: async (deps, { board, params }) => (await thatProject(deps.db, board, params)).flow,
  }),
  writeRoute({
    method: "put",
    path: "/v1/projects/{projectId}/flow",
    summary: "Replace the flow of a project",
    description:
      "The whole flow: stages named by their id are kept with their cards, renamed and reordered; those without an id are new; the others are removed, which is refused while they hold cards. A changed rule holds for the cards that enter the stage from then on.",
    tag: "Projects",
    role: "maintainer",
    ...projectInPath,
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
    handle: (deps, { write, subject, body }) => replaceFlow(deps, write, subject, body),
  }),
];
