import { z } from "zod";
import { createRelease, deleteRelease, setReleaseCards } from "../../actions/releases/releases.ts";
import { invalid } from "../../errors.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import {
  findRelease,
  listReleases,
  readReleaseDetails,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { keyedListRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import { readRoute, writeRoute, type Route } from "../route.ts";
import { id, text } from "../validate.ts";
import { byId, projectQuery } from "./lookups.ts";
import { problem, timestamp } from "./shapes.ts";

export const tag = z
  .object({
    repositoryId: z.uuid(),
    fullName: z.string().meta({ example: "acme/web" }),
    tagName: z.string().meta({ example: "v1.4.0" }),
    sha: z.string().meta({ description: "The commit that is tagged" }),
    url: z.string().nullable().meta({
      description:
        "The release's page on the forge; null where completing was refused before it was published",
    }),
  })
  .meta({ id: "ReleaseTag" });

export const release = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    name: z.string().meta({ example: "1.4" }),
    status: z.enum(["open", "completed"]).meta({ description: "A frozen release is still open" }),
    frozenAt: timestamp
      .nullable()
      .meta({ description: "When its scope stopped changing and its branches were cut; null if not frozen" }),
    taskCount: z.int(),
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
          statusId: z
            .uuid()
            .nullable()
            .meta({ description: "The stage it stands in; null for a card deleted after the completion" }),
          pickedAt: timestamp
            .nullable()
            .meta({ description: "null for a card that was there before the freeze" }),
        }),
      )
      .meta({ description: "By number" }),
    repositories: z
      .array(
        z.object({
          repositoryId: z.uuid(),
          fullName: z.string(),
          branchName: z
            .string()
            .nullable()
            .meta({ description: "The release's branch there; null if not frozen", example: "release/1-4" }),
          headSha: z.string().nullable().meta({ description: "That branch's tip as Trunkline left it" }),
          holdsCards: z.boolean().meta({
            description: "Whether a card of the release is linked to it; completing needs a version then",
          }),
        }),
      )
      .meta({ description: "The project's repositories and those with a branch of the release, by name" }),
  })
  .meta({ id: "ReleaseDetails" });

const releaseParams = z.object({ id: id() });
const releaseOf = byId("id", findRelease, "release");
const releaseToRead = byId("id", readReleaseDetails, "release");

/** The release a write is about. Throws `not_found`, and `invalid` where the flow has releases turned off. */
async function releaseToWrite(db: Db, board: BoardRole, params: { id: string }): Promise<ReleaseHead> {
  const found = await releaseOf(db, board, params);
  requireReleases(found.isUsed, found.projectId);
  return found;
}

export const releaseInPath = { params: releaseParams, find: releaseToWrite };

function requireReleases(areOn: boolean, projectId: string): void {
  if (areOn) return;
  throw invalid(
    `This flow does not work with releases. Turn them on in the flow settings: PUT /v1/projects/${projectId}/flow with \`releases\` true.`,
  );
}

/** What the column can hold. */
const MAX_CARD_NUMBER = 2_147_483_647;
export const taskNumber = z
  .int("a card number")
  .min(1, "a card number")
  .max(MAX_CARD_NUMBER, "a card number");

export const releaseRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/v1/releases",
    summary: "The releases of a project, open and completed, newest first",
    tag: "Releases",
    query: projectQuery,
    list: { description: "The releases", schema: z.array(release) },
    key: z.uuid(),
    handle: async (deps, { board, query }, window) =>
      listReleases(deps.db, (await projectOf(deps.db, board.workspaceId, query.projectId)).id, window),
  }),
  readRoute({
    path: "/v1/releases/{id}",
    summary: "Read a release with its cards and repositories",
    tag: "Releases",
    params: releaseParams,
    responses: { 200: { description: "The release", schema: releaseDetails } },
    handle: (deps, { board, params }) => releaseToRead(deps.db, board, params),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases",
    summary: "Create a release",
    description: "It starts empty and open. Two releases may share a name; their branches never do.",
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
    summary: "Set the scope of a release",
    description:
      "The whole scope, replacing what is there. Cards may stand in any stage of the release's project. A frozen release takes cards by pick only.",
    tag: "Releases",
    role: "member",
    ...releaseInPath,
    body: z.strictObject({
      taskNumbers: z
        .array(taskNumber)
        .max(500, "at most 500 cards")
        .meta({ example: [7, 12] }),
    }),
    responses: {
      204: { description: "Set", schema: null },
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
    summary: "Delete an open release",
    description: "Its cards stay. A frozen one is to be unfrozen first.",
    tag: "Releases",
    role: "maintainer",
    ...releaseInPath,
    responses: {
      204: { description: "Deleted", schema: null },
      409: { description: "It is frozen or completed", schema: problem },
    },
    handle: (_, { write, subject }) => deleteRelease(write, subject),
  }),
];
