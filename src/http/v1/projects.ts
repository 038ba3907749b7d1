import { z } from "zod";
import { replaceFlow } from "../../actions/boards/flow.ts";
import { changeProject, createProject, deleteProject } from "../../actions/boards/projects.ts";
import { DEFAULT_VERIFICATION } from "../../flow/flow.ts";
import { MAX_BRANCH_PATTERN, MAX_STAGE_NAME, MAX_STAGES, MAX_WIP_LIMIT } from "../../flow/validate-flow.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { listProjectPage, type Project } from "../../store/cards/projects.ts";
import { keyedListRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { timePlace } from "./lookups.ts";
import { problem, role, rule, timestamp } from "./shapes.ts";

export const projectParams = z.object({ projectId: id() });

/** The project in the path. Throws `not_found`, also for a project of another board. */
export const projectInPathOf = (
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

export const projectInPath = { params: projectParams, find: projectInPathOf };

const name = text({ min: 1, max: 80, isTrimmed: true });
const description = text({ max: 20_000 }).meta({ description: "Markdown" });
const slug = z
  .string()
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    "must have lower-case letters and digits, with single hyphens between words",
  )
  .max(50, "must have at most 50 characters")
  .meta({ description: "Unique on the board" });

const kind = z
  .enum(["backlog", "stage", "done"])
  .meta({ description: "`backlog` is the first stage and holds drafts; `done` is the last stage" });
const branchPattern = text({ max: MAX_BRANCH_PATTERN }).meta({
  description:
    "The name of a card's branch. `{number}` is the card's number, `{slug}` is its title as a slug",
});

const settings = {
  releases: z.boolean(),
  branchPattern,
  mergeMethod: z
    .enum(["merge", "squash", "rebase"])
    .meta({ description: "`squash` and `rebase` only if exactly one stage merges" }),
  checks: z
    .enum(["required", "ignored"])
    .meta({ description: "Whether failing or pending checks block a move into a merge stage" }),
  staleAfterDays: z.int().min(1, "must be 1 to 365").max(365, "must be 1 to 365"),
  agentSilenceHours: z.int().min(1, "must be 1 to 720").max(720, "must be 1 to 720"),
};

const independentApproval = z.boolean().meta({
  description:
    "Whether required approvals count only if their author neither pushed nor wrote a commit of the pull request",
});
const bypassRules = z.boolean().meta({
  description:
    "Whether GitHub alone decides about required checks and reviews that the App may bypass. If not, a merge has to meet them",
});
const checksStartSeconds = z.int().min(0, "must be 0 to 600").max(600, "must be 0 to 600").meta({
  description:
    "How long after a push a move waits for the first check, if earlier commits of the card or the newest of the target had checks",
});

const wipLimit = z
  .int()
  .nullable()
  .meta({
    description: `The maximum number of cards in the stage, those on their way to it included: 1 to ${MAX_WIP_LIMIT}, or null for no limit`,
  });
const humanOnly = z
  .boolean()
  .meta({ description: "Whether only people with a session may move cards into it" });
const secondPerson = z.boolean().meta({
  description:
    "Whether the person who moves a card must not have pushed or written its commits, nor own an agent that did",
});

const flow = z
  .object({
    ...settings,
    verification: z
      .object({ independentApproval, bypassRules, checksStartSeconds })
      .meta({ description: "What a merge has to prove besides what GitHub demands" }),
    stages: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        kind,
        minRole: role,
        rule,
        gates: z
          .object({ wipLimit, humanOnly, secondPerson })
          .optional()
          .meta({ description: "Absent if the stage has none" }),
      }),
    ),
  })
  .meta({ id: "Flow", description: "The stages of a project in order, and its settings" });

const stageInput = z.strictObject({
  id: id().optional().meta({ description: "The id of a stage to keep; omit it for a new stage" }),
  name: text({ min: 1, max: MAX_STAGE_NAME, isTrimmed: true }).meta({
    description: "Unique in the flow, ignoring case",
  }),
  kind,
  minRole: role.meta({ description: "The minimum role for moves into the stage" }),
  rule: z.strictObject({
    type: rule.shape.type,
    into: rule.shape.into.optional().transform((value) => value ?? null),
  }),
  gates: z
    .strictObject({
      wipLimit: wipLimit.optional().transform((value) => value ?? null),
      humanOnly: humanOnly.optional().transform((value) => value ?? false),
      secondPerson: secondPerson.optional().transform((value) => value ?? false),
    })
    .optional()
    .meta({
      description:
        "Conditions for moves into the stage. Omit it to keep those of the stage; a field that is absent in it is off",
    }),
});

const verificationInput = z
  .strictObject({
    independentApproval: independentApproval
      .optional()
      .transform((value) => value ?? DEFAULT_VERIFICATION.independentApproval),
    bypassRules: bypassRules.optional().transform((value) => value ?? DEFAULT_VERIFICATION.bypassRules),
    checksStartSeconds: checksStartSeconds
      .optional()
      .transform((value) => value ?? DEFAULT_VERIFICATION.checksStartSeconds),
  })
  .optional()
  .meta({ description: "Omit it to keep that of the flow; a field that is absent in it gets its default" });

export const projectRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/projects",
    summary: "List projects",
    tag: "Projects",
    list: { description: "The projects of the board, oldest first", schema: z.array(project) },
    key: timePlace,
    handle: (deps, { board }, window) => listProjectPage(deps.db, board.workspaceId, window),
  }),
  writeRoute({
    method: "post",
    path: "/v1/projects",
    summary: "Create a project",
    description:
      "The project gets a copy of the flow of the board's oldest project, or of `flowFrom`. The default `slug` is derived from the name, with the suffix -2, -3 … if it is taken.",
    tag: "Projects",
    role: "maintainer",
    body: z.strictObject({
      name,
      slug: slug.optional(),
      description: description.optional(),
      flowFrom: id().optional().meta({ description: "The project of this board whose flow is copied" }),
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
    summary: "Update a project",
    description: "Omitted fields are unchanged. A new name does not change the slug.",
    tag: "Projects",
    role: "maintainer",
    ...projectInPath,
    body: z.strictObject({
      name: name.optional(),
      slug: slug.optional(),
      description: description.optional(),
    }),
    responses: {
      200: { description: "The updated project", schema: project },
      409: { description: "Another project has the slug", schema: problem },
    },
    handle: (_, { write, subject, body }) => changeProject(write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/projects/{projectId}",
    summary: "Delete a project",
    description: "Its repositories become available to other projects.",
    tag: "Projects",
    role: "maintainer",
    ...projectInPath,
    responses: {
      204: { description: "Deleted", schema: null },
      409: { description: "The project has cards, or is the last project of the board", schema: problem },
    },
    handle: (_, { write, subject }) => deleteProject(write, subject),
  }),
  readRoute({
    path: "/v1/projects/{projectId}/flow",
    summary: "Get the flow of a project",
    tag: "Projects",
    isVersioned: true,
    params: projectParams,
    responses: { 200: { description: "The flow", schema: flow } },
    handle: async (deps, { board, params }) => (await projectInPathOf(deps.db, board, params)).flow,
  }),
  writeRoute({
    method: "put",
    path: "/v1/projects/{projectId}/flow",
    summary: "Replace the flow of a project",
    description:
      "Replaces the whole flow. Stages with an id keep their cards and may be renamed and reordered; stages without an id are new; the other stages are removed, which is refused while they have cards. A changed rule applies to cards that enter the stage afterwards.",
    tag: "Projects",
    role: "maintainer",
    isVersioned: true,
    ...projectInPath,
    body: z.strictObject({
      ...settings,
      verification: verificationInput,
      stages: z.array(stageInput).max(MAX_STAGES, `must have at most ${MAX_STAGES} stages`),
    }),
    responses: {
      200: { description: "The updated flow", schema: flow },
      400: {
        description: "The flow is invalid; the message names the stage and the reason",
        schema: problem,
      },
      409: {
        description: "A stage to remove has cards, or a card is being moved (with Retry-After)",
        schema: problem,
      },
      412: { description: "The flow has changed since the read that `If-Match` names", schema: problem },
    },
    handle: (deps, { write, subject, body, requireMatch }) =>
      replaceFlow(deps, write, subject, body, requireMatch),
  }),
];
