import { z } from "zod";
import { repositoryEntry, setProjectRepositories } from "../../actions/boards/repositories.ts";
import { CONNECTION_FAULTS } from "../../flow/refusal.ts";
import { listBoardRepositories, listProjectRepositories } from "../../store/forge/repositories.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id } from "../validate.ts";
import { projectInPath, projectParams, projectInPathOf } from "./projects.ts";
import { problem, timestamp, unavailable } from "./shapes.ts";

const repository = z
  .object({
    id: z.uuid(),
    fullName: z.string(),
    defaultBranch: z.string(),
    linkByDefault: z.boolean().meta({
      description: "Whether it is a default repository: new cards without `repositoryIds` are linked to it",
    }),
    connected: z.boolean().meta({ description: "False if the installation no longer grants access to it" }),
    health: z
      .object({
        broken: z.enum(CONNECTION_FAULTS).nullable().meta({
          description:
            "Why Trunkline cannot work with it; moves of its cards are refused until this is fixed. null if it is available",
        }),
        lastWebhookAt: timestamp.nullable().meta({
          description: "When Trunkline last received a webhook about it",
        }),
        lastReconciledAt: timestamp.nullable().meta({
          description: "When Trunkline last compared its cards with GitHub",
        }),
        missingPermissions: z.array(z.string()).meta({
          description: "Permissions that some moves need and the account has not granted",
        }),
        unavailable,
      })
      .meta({ description: "The state of the connection to GitHub" }),
    projectId: z.uuid().nullable().meta({ description: "The project it belongs to; null if none" }),
  })
  .meta({ id: "Repository" });

export const repositoryRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/repositories",
    summary: "List repositories",
    description: "The repositories that the installation grants to the board, in a project or not.",
    tag: "Repositories",
    list: { description: "The repositories, by name", schema: z.array(repository) },
    handle: async (deps, { board }) =>
      (await listBoardRepositories(deps.db, board.workspaceId)).map(repositoryEntry),
  }),
  listRoute({
    path: "/v1/projects/{projectId}/repositories",
    summary: "List the repositories of a project",
    tag: "Repositories",
    params: projectParams,
    list: { description: "The repositories, by name", schema: z.array(repository) },
    handle: async (deps, { board, params }) => {
      const project = await projectInPathOf(deps.db, board, params);
      return (await listProjectRepositories(deps.db, project.id)).map(repositoryEntry);
    },
  }),
  writeRoute({
    method: "put",
    path: "/v1/projects/{projectId}/repositories",
    summary: "Set the repositories of a project",
    description:
      "Replaces the whole set. A repository belongs to at most one project. Cards are unlinked from removed repositories, except from those where their work was merged. Branches are unchanged.",
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
                "Unchanged if omitted. The default for a new repository is false, or true if it is the only one",
            }),
          }),
        )
        .max(1_000, "must have at most 1,000 repositories"),
    }),
    responses: {
      200: { description: "The repositories of the project, by name", schema: z.array(repository) },
      409: {
        description:
          "A repository belongs to another project, a repository to remove has an open pull request of a card, or such a card is being moved (with Retry-After)",
        schema: problem,
      },
    },
    handle: (_, { write, subject, body }) => setProjectRepositories(write, subject, body.repositories),
  }),
];
