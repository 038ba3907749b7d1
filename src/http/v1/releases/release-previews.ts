import { z } from "zod";
import { promotionInput } from "../../../actions/releases/promote-cards.ts";
import { previewRelease } from "../../../actions/releases/preview-release.ts";
import { isTagName } from "../../../flow/names.ts";
import { MAX_TAGS_READ } from "../../../forge/releasing.ts";
import { MAX_CARDS_OUTSIDE } from "../../../store/releases/release-cards.ts";
import { findOpenOperation } from "../../../store/releases/release-operations.ts";
import { readRoute, type Route } from "../../route.ts";
import { id } from "../../validate.ts";
import { releaseOf, releaseParams } from "./releases.ts";

const preview = z
  .object({
    repositories: z
      .array(
        z.object({
          repositoryId: z.uuid(),
          fullName: z.string(),
          holdsCards: z.boolean().meta({
            description: "Whether a card of the release is linked to it. Completing then requires a version",
          }),
          freeze: z.object({
            branchName: z.string().meta({ description: "The release branch" }),
            startsFrom: z.string().meta({ description: "The branch from which a freeze creates it" }),
          }),
          complete: z.object({
            branchName: z.string().nullable().meta({
              description: "The branch whose tip gets the tag; null if a frozen release has none here",
            }),
            sha: z.string().nullable().meta({ description: "Its last known commit" }),
            tagName: z.string().nullable().meta({
              description: "The tag that an interrupted completion has created",
            }),
            isPublished: z.boolean().meta({
              description: "Whether its GitHub release is published, so that another tag is refused",
            }),
            suggestedTagName: z
              .string()
              .nullable()
              .meta({
                description: `The version after the highest of the ${MAX_TAGS_READ.toLocaleString("en")} newest tags; null if none names a version, or GitHub did not respond`,
              }),
            prerelease: z.boolean().nullable().meta({
              description:
                "How `complete` would publish the tag of the query, else `tagName`, else `suggestedTagName`, by default; null without a tag",
            }),
            latest: z.boolean().nullable().meta({
              description:
                "Whether it would become GitHub's latest release: it is no prerelease, and no tag has a higher version; null if unknown",
            }),
            notes: z.string().meta({ description: "The notes of the GitHub release, in Markdown" }),
          }),
        }),
      )
      .meta({ description: "By name" }),
    missingCards: z.array(z.int()).meta({
      description:
        "The cards whose work is not on the branches that get the tags: nothing is merged, or not in time. Without a freeze also those that are merged only into other targets: `complete` asks GitHub whether the tagged branch contains them anyway",
    }),
    unmergedCards: z.array(z.int()).meta({
      description: "Those of `missingCards` without a merged pull request, which cannot be picked yet",
    }),
    cardsOutside: z.array(z.object({ number: z.int(), title: z.string() })).meta({
      description: `The cards that are not in the release, but whose merged work the branches of a freeze would contain: at most ${MAX_CARDS_OUTSIDE}, the newest first. Without cards of completed releases; empty after the freeze`,
    }),
    unfreezeRefusal: z.string().nullable().meta({
      description:
        "Why the release cannot be unfrozen: cards were picked onto its branches. Null if Trunkline knows no reason; unfreezing also reads what was pushed",
    }),
  })
  .meta({ id: "ReleasePreview" });

const running = z
  .object({
    operation: z
      .object({
        id: z.uuid(),
        kind: z.enum(["freeze", "unfreeze", "pick", "promote", "complete"]),
        statusId: z.uuid().nullable().meta({ description: "The stage of a promotion" }),
        isCancelled: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: "ReleaseOperation" });

const TAGS = "must list <repositoryId>:<tagName>, separated by commas";

/** Tags by repository, such as `<id>:v1.4.0,<id>:v2.0.0`. */
const tags = z
  .string()
  .max(10_000, "must have at most 10,000 characters")
  .transform((value) => value.split(",").map((pair) => /^([^:]+):([^:]+)$/.exec(pair)?.slice(1) ?? []))
  .refine(
    (pairs) =>
      pairs.every(
        ([repositoryId, tagName = ""]) => id().safeParse(repositoryId).success && isTagName(tagName),
      ),
    TAGS,
  )
  .transform(
    (pairs) =>
      new Map(pairs.map(([repositoryId = "", tagName = ""]) => [repositoryId.toLowerCase(), tagName])),
  )
  .optional()
  .meta({ description: "The wanted tags, as `<repositoryId>:<tagName>`, separated by commas" });

export const releasePreviewRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/releases/{id}/preview",
    summary: "Preview the freeze and the completion of a release",
    description:
      "The branches that `freeze` would create, and the tags and notes that `complete` would write now. The call reads only the tags from GitHub.",
    tag: "Releases",
    params: releaseParams,
    query: z.object({ tags }),
    responses: { 200: { description: "The preview", schema: preview } },
    handle: async (deps, { board, params, query }) =>
      previewRelease(deps, await releaseOf(deps.db, board, params), query.tags ?? new Map()),
  }),
  readRoute({
    path: "/v1/releases/{id}/operation",
    summary: "Get the operation that is running on a release",
    description:
      "`operation` is null if none is running. `GET /v1/operations/{operationId}` shows the progress of a promotion.",
    tag: "Releases",
    params: releaseParams,
    responses: { 200: { description: "The operation", schema: running } },
    handle: async (deps, { board, params }) => {
      const release = await releaseOf(deps.db, board, params);
      const operation = await findOpenOperation(deps.db, release.id);
      if (!operation) return { operation: null };
      const { id, kind, input, isCancelled } = operation;
      const statusId = promotionInput.safeParse(input).data?.statusId ?? null;
      return { operation: { id, kind, statusId, isCancelled } };
    },
  }),
];
