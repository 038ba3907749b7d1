import { z } from "zod";
import { repositoryEntry, setProjectRepositories } from "../../actions/boards/repositories.ts";
import { BROKEN_KINDS } from "../../flow/refusal.ts";
import { listBoardRepositories, listProjectRepositories } from "../../store/forge/repositories.ts";
import { listRoute } from "../list-route.ts";
import { writeRoute, type Route } from "../route.ts";
import { id } from "../validate.ts";
import { projectInPath, projectParams, thatProject } from "./projects.ts";
import { problem, timestamp } from "./shapes.ts";

const repository = z
  .object({
    id: z.uuid(),
    fullName: z.string().meta({ example: "acme/web" }),
    defaultBranch: z.string(),
    linkByDefault: z
      .boolean()
      .meta({ description: "Whether a card that names no repositories is linked to it" }),
    connected: z.boolean().meta({ description: "False once the installation no longer grants it" }),
    health: z
      .object({
        broken: z.enum(BROKEN_KINDS).nullable().meta({
          description: "Why nothing can be done there: cards that need it are refused until that is mended",
        }),
        lastWebhookAt: timestamp.nullable().meta({
          description: "When the forge last told of it by itself",
        }),
        lastReconciledAt: timestamp.nullable().meta({
          description: "When what its cards show was last compared with the forge",
        }),
        missingPermissions: z.array(z.string()).meta({
          description: "What the account has not granted and some moves need",
          example: ["workflows: write"],
        }),
      })
      .meta({ description: "How well it is connected to the forge" }),
    projectId: z.uuid().nullable().meta({ description: "The project that has it, null while none does" }),
  })
  .meta({ id: "Repository" });

export const repositoryRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/repositories",
    summary: "The repositories the installation grants to the board, by name",
    description: "Those of its projects, and those no project has yet.",
    tag: "Repositories",
    list: { description: "The repositories", schema: z.array(repository) },
    handle: async (deps, { board }) =>
      (await listBoardRepositories(deps.db, board.workspaceId)).map(repositoryEntry),
  }),
  listRoute({
    path: "/v1/projects/{projectId}/repositories",
    summary: "The repositories of a project, by name",
    tag: "Repositories",
    params: projectParams,
    list: { description: "The repositories", schema: z.array(repository) },
    handle: async (deps, { board, params }) => {
      const project = await thatProject(deps.db, board, params);
      return (await listProjectRepositories(deps.db, project.id)).map(repositoryEntry);
    },
  }),
  writeRoute({
    method: "put",
    path: "/v1/projects/{projectId}/repositories",
    summary: "Choose the repositories of a project",
    description:
      "The whole set. A repository belongs to at most one project. Cards are unlinked from those the project lets go of, except where their work there was merged; branches stay as they are.",
    tag: "Repositories",
    role: "maintainer",
    ...projectInPath,
    body: z.strictObject({
      repositories: z
        .array(
          z.strictObject({
            id: id().meta({ description: "From GET /v1/repositories" }),
            linkByDefault: z.boolean().optional().meta({
              description:
                "Left out it stays as it was; false for a new one, unless it is the project's only one",
            }),
          }),
        )
        .max(1_000, "at most 1,000 repositories"),
    }),
    responses: {
      200: { description: "The repositories of the project, by name", schema: z.array(repository) },
      409: {
        description:
          "Another project has one of them, a card's open pull request needs one that is left out, or such a card is being moved (then with Retry-After)",
        schema: problem,
      },
    },
    handle: (_, { write, subject, body }) => setProjectRepositories(write, subject, body.repositories),
  }),
];
