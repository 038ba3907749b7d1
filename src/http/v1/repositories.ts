import { z } from "zod";
import { repositoryEntry, setProjectRepositories } from "../../actions/boards/repositories.ts";
import { conflict, requireFound } from "../../errors.ts";
import { CONNECTION_FAULTS, inaccessibleMessage } from "../../flow/refusal.ts";
import { mapBranchOwners } from "../../store/forge/branches.ts";
import { listBoardRepositories, listProjectRepositories } from "../../store/forge/repositories.ts";
import { keyedListRoute, listRoute } from "../list-route.ts";
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

const listedPullRequest = z
  .object({
    number: z.int(),
    title: z.string(),
    author: z.string().nullable().meta({ description: "The GitHub login; null for a deleted account" }),
    isDraft: z.boolean(),
    headBranch: z.string(),
    isFromFork: z.boolean().meta({ description: "Its branch is in another repository: no card can own it" }),
    targetBranch: z.string(),
    url: z.string(),
    updatedAt: timestamp.nullable(),
    cardNumber: z.int().nullable().meta({ description: "The card that owns the branch" }),
  })
  .meta({ id: "ListedPullRequest", description: "An open pull request on GitHub" });

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
  keyedListRoute({
    path: "/v1/repositories/{repositoryId}/pull-requests",
    summary: "List the open pull requests of a repository",
    description:
      "Reads them from GitHub, or repeats what it said in the last 3 seconds. The repository belongs to a project. To make a card of one, see POST /v1/cards.",
    tag: "Repositories",
    params: z.object({ repositoryId: id().meta({ description: "From GET /v1/repositories" }) }),
    query: z.object({
      state: z.literal("open", "must be open").optional(),
      linked: z.enum(["true", "false"], "must be true or false").optional().meta({
        description: "Whether a card owns its branch; by default both",
      }),
    }),
    list: { description: "Highest number first", schema: z.array(listedPullRequest) },
    key: z.int().min(1),
    handle: async (deps, { board, params, query }, { after, limit }) => {
      const { repositoryId } = params;
      const known = await listBoardRepositories(deps.db, board.workspaceId);
      const repository = requireFound(
        known.find((each) => each.id === repositoryId && each.projectId !== null) ?? null,
        "repository",
      );
      const { forgeRef } = repository;
      if (!forgeRef) throw conflict(inaccessibleMessage(repository));
      deps.leavePlace();
      const pulls = await deps.liveReads.ask(`pulls of ${repositoryId}`, "", () =>
        deps.forge.openPullRequests(forgeRef),
      );
      const own = pulls.filter(({ isFromFork }) => !isFromFork).map(({ headBranch }) => headBranch);
      const owners = await mapBranchOwners(deps.db, repositoryId, own);
      const listed = pulls
        .map(({ body: _body, state: _state, ...pull }) => ({
          ...pull,
          cardNumber: pull.isFromFork ? null : (owners.get(pull.headBranch) ?? null),
        }))
        .filter(
          ({ cardNumber }) => query.linked === undefined || String(cardNumber !== null) === query.linked,
        )
        .filter(({ number }) => after === null || number < after)
        .toSorted((one, other) => other.number - one.number);
      const items = listed.slice(0, limit);
      return { items, next: listed.length > limit ? (items.at(-1)?.number ?? null) : null };
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
