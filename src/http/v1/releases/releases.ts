import { z } from "zod";
import { createRelease, deleteRelease, setReleaseCards } from "../../../actions/releases/releases.ts";
import { invalid } from "../../../errors.ts";
import type { Db } from "../../../store/db/connect.ts";
import type { BoardRole } from "../../../store/tenancy/credentials.ts";
import {
  findRelease,
  listReleases,
  readReleaseDetails,
  type ReleaseHead,
} from "../../../store/releases/releases.ts";
import { keyedListRoute } from "../../list-route.ts";
import { projectOf } from "../../resolve.ts";
import { readRoute, type Route } from "../../route.ts";
import { writeRoute } from "../../write-route.ts";
import { id, text } from "../../validate.ts";
import { byId, projectQuery } from "../lookups.ts";
import { problem, timestamp } from "../shapes.ts";

export const tag = z
  .object({
    repositoryId: z.uuid(),
    fullName: z.string(),
    tagName: z.string(),
    sha: z.string().meta({ description: "The tagged commit" }),
    url: z.string().nullable().meta({
      description: "The page of the GitHub release; null if completing was refused before it was published",
    }),
  })
  .meta({ id: "ReleaseTag" });

export const release = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    name: z.string(),
    status: z.enum(["open", "completed"]).meta({ description: "A frozen release is open" }),
    frozenAt: timestamp.nullable().meta({
      description: "When its branches were created and its scope was fixed; null if it is not frozen",
    }),
    taskCount: z.int(),
    missingCount: z.int().meta({
      description: "How many of the cards the completed release does not contain; 0 until it is completed",
    }),
    createdByName: z.string(),
    createdAt: timestamp,
    completedAt: timestamp.nullable(),
    tags: z.array(tag).meta({ description: "Written on completion" }),
  })
  .meta({ id: "Release" });

const releaseDetails = release
  .extend({
    cards: z
      .array(
        z.object({
          number: z.int(),
          title: z.string(),
          statusId: z.uuid().nullable().meta({
            description: "The stage of the card; null if the card was deleted after the completion",
          }),
          pickedAt: timestamp
            .nullable()
            .meta({ description: "null if the card was added before the freeze" }),
          isMissing: z.boolean().meta({
            description: "Whether the completed release does not contain the work of the card",
          }),
        }),
      )
      .meta({ description: "By number" }),
    repositories: z
      .array(
        z.object({
          repositoryId: z.uuid(),
          fullName: z.string(),
          branchName: z.string().nullable().meta({
            description: "The release branch; null if the release is not frozen",
          }),
          headSha: z
            .string()
            .nullable()
            .meta({ description: "The head commit that Trunkline last wrote to the release branch" }),
          holdsCards: z.boolean().meta({
            description: "Whether a card of the release is linked to it. Completing then requires a version",
          }),
        }),
      )
      .meta({ description: "The repositories of the project and those with a release branch, by name" }),
  })
  .meta({ id: "ReleaseDetails" });

export const releaseParams = z.object({ id: id() });
export const releaseOf = byId("id", findRelease, "release");
const releaseToRead = byId("id", readReleaseDetails, "release");

/**
 * The release in the path of a write. Throws `not_found`, or `invalid` if the flow has releases
 * turned off.
 */
async function releaseToWrite(db: Db, board: BoardRole, params: { id: string }): Promise<ReleaseHead> {
  const found = await releaseOf(db, board, params);
  requireReleases(found.isTurnedOn, found.projectId);
  return found;
}

export const releaseInPath = { params: releaseParams, find: releaseToWrite };

function requireReleases(areOn: boolean, projectId: string): void {
  if (areOn) return;
  throw invalid(
    `This flow does not work with releases. Turn it on in the flow settings: PUT /v1/projects/${projectId}/flow with \`releases\` true.`,
  );
}

/** The maximum of the column in PostgreSQL. */
const MAX_CARD_NUMBER = 2_147_483_647;
const CARD_NUMBER = "must be a card number";
export const taskNumber = z.int(CARD_NUMBER).min(1, CARD_NUMBER).max(MAX_CARD_NUMBER, CARD_NUMBER);

export const releaseRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/releases",
    summary: "List releases",
    tag: "Releases",
    query: projectQuery,
    list: {
      description: "The open and completed releases of a project, newest first",
      schema: z.array(release),
    },
    key: z.uuid(),
    handle: async (deps, { board, query }, window) =>
      listReleases(deps.db, (await projectOf(deps.db, board.workspaceId, query.projectId)).id, window),
  }),
  readRoute({
    path: "/v1/releases/{id}",
    summary: "Get a release",
    description: "The release with its cards and repositories.",
    tag: "Releases",
    params: releaseParams,
    responses: { 200: { description: "The release", schema: releaseDetails } },
    handle: (deps, { board, params }) => releaseToRead(deps.db, board, params),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases",
    summary: "Create a release",
    description:
      "The release is open and has no cards. Several releases may have the same name; their branches differ.",
    tag: "Releases",
    role: "member",
    query: projectQuery,
    body: z.strictObject({ name: text({ min: 1, max: 80, isTrimmed: true }) }),
    responses: { 201: { description: "The created release", schema: release } },
    handle: async (deps, { write, query, body }) => {
      const project = await projectOf(write.trx, write.workspaceId, query.projectId);
      requireReleases(project.flow.releases, project.id);
      return createRelease(deps, write, project, body.name);
    },
  }),
  writeRoute({
    method: "put",
    path: "/v1/releases/{id}/cards",
    summary: "Set the cards of a release",
    description:
      "Replaces the scope of the release. The cards may be in any stage of the release's project. Cards can be added to a frozen release only by pick.",
    tag: "Releases",
    role: "member",
    ...releaseInPath,
    body: z.strictObject({
      taskNumbers: z.array(taskNumber).max(500, "must have at most 500 cards"),
    }),
    responses: {
      204: { description: "Replaced", schema: null },
      409: {
        description: "A card is in another open release, or the release is frozen or completed",
        schema: problem,
      },
    },
    handle: (_, { write, subject, body }) => setReleaseCards(write, subject, body.taskNumbers),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/releases/{id}",
    summary: "Delete a release",
    description:
      "Its cards remain, and what it has written on GitHub: branches, tags and GitHub releases. A completed release cannot be deleted.",
    tag: "Releases",
    role: "maintainer",
    ...releaseInPath,
    responses: {
      204: { description: "Deleted", schema: null },
      409: {
        description: "The release is completed, or an operation on the release is running (with Retry-After)",
        schema: problem,
      },
    },
    handle: (_, { write, subject }) => deleteRelease(write, subject),
  }),
];
