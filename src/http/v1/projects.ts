import { z } from "zod";
import { changeProject, createProject, deleteProject } from "../../actions/boards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { listProjects, type Project } from "../../store/cards/projects.ts";
import { listRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { problem, timestamp } from "./shapes.ts";

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

const name = text({ min: 1, max: 80, isTrimmed: true });
const description = text({ max: 20_000 }).meta({ description: "Markdown" });
const slug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "lower-case letters and digits, words joined by single hyphens")
  .max(50, "at most 50 characters")
  .meta({ description: "Unique on the board", example: "mobile-app" });

const listProjectsRoute = listRoute({
  path: "/v1/projects",
  summary: "The projects of the board, oldest first",
  tag: "Projects",
  list: { description: "The projects", schema: z.array(project) },
  handle: (deps, { board }) => listProjects(deps.db, board.workspaceId),
});

const createRoute = writeRoute({
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
});

const patchRoute = writeRoute({
  method: "patch",
  path: "/v1/projects/{projectId}",
  summary: "Change a project",
  description: "Fields left out are untouched. A new name leaves the slug as it is.",
  tag: "Projects",
  role: "maintainer",
  params: projectParams,
  body: z.strictObject({
    name: name.optional(),
    slug: slug.optional(),
    description: description.optional(),
  }),
  responses: {
    200: { description: "The whole project", schema: project },
    409: { description: "Another project has the slug", schema: problem },
  },
  find: thatProject,
  handle: (_, { write, subject, body }) => changeProject(write, subject, body),
});

const deleteRoute = writeRoute({
  method: "delete",
  path: "/v1/projects/{projectId}",
  summary: "Delete a project",
  description: "Its repositories are free for another project.",
  tag: "Projects",
  role: "maintainer",
  params: projectParams,
  responses: {
    204: { description: "Deleted", schema: null },
    409: { description: "It still holds cards, or is the last project of the board", schema: problem },
  },
  find: thatProject,
  handle: (_, { write, subject }) => deleteProject(write, subject),
});

export const projectRoutes: readonly Route[] = [listProjectsRoute, createRoute, patchRoute, deleteRoute];
