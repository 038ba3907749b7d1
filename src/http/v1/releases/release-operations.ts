import { z } from "zod";
import { completeRelease } from "../../../actions/releases/complete-release.ts";
import { ROLE_OF_OPERATION } from "../../../actions/releases/may-continue.ts";
import { freezeRelease, unfreezeRelease } from "../../../actions/releases/freeze.ts";
import { pickCard } from "../../../actions/releases/pick-card.ts";
import { promoteRelease } from "../../../actions/releases/promote-release.ts";
import { MAX_BRANCH_NAME_BYTES } from "../../../flow/names.ts";
import { MAX_NOTES } from "../../../flow/releases.ts";
import { REFUSAL_REASONS } from "../../../flow/refusal.ts";
import type { Route } from "../../route.ts";
import { writeRoute } from "../../write-route.ts";
import { id, text } from "../../validate.ts";
import { release, releaseInPath, taskNumber } from "./releases.ts";
import { landed, problem, promotion } from "../shapes.ts";

export const promotionOutcome = z
  .object({
    promoted: z
      .array(
        z.object({
          number: z.int(),
          statusId: z.uuid(),
          promoted: z.array(promotion),
          alreadyMerged: z.array(landed).optional(),
        }),
      )
      .meta({ description: "The cards that were moved, and their merges" }),
    refused: z
      .array(
        z.object({
          number: z.int(),
          repository: z.string().nullable().meta({ description: "The repository where GitHub refused" }),
          reason: z.enum(REFUSAL_REASONS),
          message: z.string().meta({ description: "GitHub's message, if there is one" }),
          promoted: z
            .array(promotion)
            .optional()
            .meta({ description: "The merges before another repository refused" }),
          alreadyMerged: z.array(landed).optional(),
        }),
      )
      .meta({ description: "The cards that stay in their stage, with `blocked` set" }),
    skipped: z
      .array(
        z.object({
          number: z.int(),
          reason: z.enum([
            "already_there",
            "being_moved",
            "cancelled",
            "deleted",
            "not_permitted",
            "stage_removed",
          ]),
        }),
      )
      .meta({ description: "The cards that were not moved" }),
    pending: z.array(z.int()).meta({
      description:
        "The cards that are still to be moved, or whose merge GitHub has accepted and not finished",
    }),
    operationId: z
      .uuid()
      .nullable()
      .meta({ description: "The operation to poll for the rest; null if nothing is pending" }),
  })
  .meta({ id: "PromotionOutcome" });

/** Further responses of every operation on a release. */
const forgeProblems = {
  503: { description: "GitHub could not be reached; make the same call again", schema: problem },
};
const busy = "or another operation on the release is running (with Retry-After)";

const pickRefusal = problem
  .extend({
    repository: z.string().optional().meta({ description: "The repository that refuses the pick" }),
    files: z
      .array(z.string())
      .optional()
      .meta({ description: "For a conflict: the files that both sides changed" }),
  })
  .meta({ id: "PickRefusal" });

export const releaseOperationRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/freeze",
    summary: "Freeze a release",
    description:
      "Creates the branch `release/{slug}` in every repository of the project, from the target of the flow's first merge stage. Afterwards, cards can only be added by pick. If a repository refuses the freeze, its branches are deleted again. Freezing a frozen release creates the missing branches, and keeps those that it created before a refusal.",
    tag: "Releases",
    role: ROLE_OF_OPERATION.freeze,
    ...releaseInPath,
    responses: {
      200: { description: "The frozen release", schema: release },
      409: { description: `GitHub refused, the release is completed, ${busy}`, schema: problem },
      ...forgeProblems,
    },
    handle: (deps, { write, subject }) => freezeRelease(deps, write, subject),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/releases/{id}/freeze",
    summary: "Unfreeze a release",
    description:
      "Deletes all its branches, if nothing was picked or pushed onto any of them. Does nothing if the release is not frozen.",
    tag: "Releases",
    role: ROLE_OF_OPERATION.unfreeze,
    ...releaseInPath,
    responses: {
      200: { description: "The unfrozen release", schema: release },
      409: {
        description: `A branch has picked or pushed commits, GitHub refused, the release is completed, ${busy}`,
        schema: problem,
      },
      ...forgeProblems,
    },
    handle: (deps, { write, subject }) => unfreezeRelease(deps, write, subject),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/pick",
    summary: "Pick a card into a frozen release",
    description:
      "The only way to add a card to a frozen release. Cherry-picks the card's merged commits in order onto the release branch of each of its repositories, in all of them or in none. Succeeds if the branches already have the commits.",
    tag: "Releases",
    role: ROLE_OF_OPERATION.pick,
    ...releaseInPath,
    body: z.strictObject({ taskNumber: taskNumber }),
    responses: {
      200: { description: "The release", schema: release },
      409: {
        description: `The card is not merged, conflicts, or is in another open release; the release is not frozen, or is completed; GitHub refused, ${busy}`,
        schema: pickRefusal,
      },
      ...forgeProblems,
    },
    handle: (deps, { write, subject, body }) => pickCard(deps, write, subject, body.taskNumber),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/promote",
    summary: "Promote a release",
    description:
      "Moves the cards of the release into a stage, one after the other, each to the end of the column. A refused card stays in its stage and does not affect the others. The call returns within 55 seconds. Pending cards are moved afterwards; `GET /v1/operations/{operationId}` shows the progress.",
    tag: "Releases",
    role: ROLE_OF_OPERATION.promote,
    ...releaseInPath,
    body: z.strictObject({
      statusId: id().meta({ description: "A stage of the project's flow" }),
      taskNumbers: z.array(taskNumber).optional().meta({
        description: "The cards to move; by default all cards of the release",
      }),
    }),
    responses: {
      200: { description: "The result of each card so far", schema: promotionOutcome },
      409: { description: `The release is completed, ${busy}`, schema: problem },
    },
    handle: (deps, { write, subject, body }) => promoteRelease(deps, write, subject, body),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/complete",
    summary: "Complete a release",
    description:
      "Creates a tag and a GitHub release in each repository: at the release branch if the release is frozen, otherwise at the target of the flow's last merge stage. All versions are checked first. The notes list the cards with their pull requests and mark the cards that the tag is known to lack. If the call is interrupted or refused, the next call completes the rest; it can name another tag where no GitHub release is published yet. Another tag, prerelease, latest or notes for a published GitHub release is refused with 409; omitted values stay.",
    tag: "Releases",
    role: ROLE_OF_OPERATION.complete,
    ...releaseInPath,
    body: z.strictObject({
      versions: z
        .array(
          z.strictObject({
            repositoryId: id(),
            tagName: text({ min: 1, max: MAX_BRANCH_NAME_BYTES }).meta({
              description: "A valid Git tag name",
            }),
            prerelease: z.boolean().optional().meta({
              description: "By default true for a version such as `v2.0.0-rc.1`",
            }),
            latest: z.boolean().optional().meta({
              description:
                "Whether it becomes GitHub's latest release. By default true unless it is a prerelease or a tag of the repository has a higher version",
            }),
            notes: text({ max: MAX_NOTES }).optional().meta({
              description:
                "Markdown, by default the cards. Only references to the pull requests of the cards become links",
            }),
          }),
        )
        .max(500, "must have at most 500 versions")
        .meta({ description: "One for every repository with a card of the release" }),
    }),
    responses: {
      200: { description: "The completed release", schema: release },
      409: {
        description: `A tag already exists, GitHub refused, the release is already completed, ${busy}`,
        schema: problem,
      },
      ...forgeProblems,
    },
    handle: (deps, { write, subject, body }) => completeRelease(deps, write, subject, body.versions),
  }),
];
