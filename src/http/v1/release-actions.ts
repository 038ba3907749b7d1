import { z } from "zod";
import { completeRelease } from "../../actions/releases/complete-release.ts";
import { freezeRelease, unfreezeRelease } from "../../actions/releases/freeze.ts";
import { pickCard } from "../../actions/releases/pick-card.ts";
import { promoteRelease } from "../../actions/releases/promote-release.ts";
import { notFound } from "../../errors.ts";
import { MAX_BRANCH_NAME_BYTES } from "../../flow/names.ts";
import { REFUSAL_REASONS } from "../../flow/refusal.ts";
import { findAction } from "../../store/releases/release-actions.ts";
import { readPromotion } from "../../store/releases/release-promotions.ts";
import { readRoute, type Route, writeRoute } from "../route.ts";
import { id, text } from "../validate.ts";
import { release, releaseInPath, taskNumber } from "./releases.ts";
import { landed, problem, promotion } from "./shapes.ts";

const promotionOutcome = z
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
      .meta({ description: "Cards that were moved, and what their moves merged" }),
    refused: z
      .array(
        z.object({
          number: z.int(),
          repository: z
            .string()
            .nullable()
            .meta({ description: "The repository that refused", example: "acme/web" }),
          reason: z.enum(REFUSAL_REASONS),
          message: z.string().meta({ description: "The forge's wording, where it gave one" }),
          promoted: z
            .array(promotion)
            .optional()
            .meta({ description: "What was merged before another repository refused" }),
          alreadyMerged: z.array(landed).optional(),
        }),
      )
      .meta({ description: "Cards that stay where they were, with `blocked` set" }),
    skipped: z
      .array(
        z.object({
          number: z.int(),
          reason: z.enum(["already_there", "being_moved", "deleted", "stage_removed"]),
        }),
      )
      .meta({ description: "Cards that were left alone" }),
    pending: z
      .array(z.int())
      .meta({ description: "Cards whose turn comes, or whose merge the forge has queued" }),
    operationId: z
      .uuid()
      .nullable()
      .meta({ description: "Where the rest is told; null when nothing is pending" }),
  })
  .meta({ id: "PromotionOutcome" });

/** What every action on a release may answer besides. */
const forgeProblems = {
  503: { description: "The forge could not be reached; make the same call again", schema: problem },
};
const underWay = "or something else is being done to the release (then with Retry-After)";

const pickRefusal = problem
  .extend({
    repository: z.string().optional().meta({ description: "The repository that stands in the way" }),
    files: z
      .array(z.string())
      .optional()
      .meta({ description: "Of a conflict: the files that both sides changed" }),
  })
  .meta({ id: "PickRefusal" });

export const releaseActionRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/freeze",
    summary: "Freeze a release, cutting its branches",
    description:
      "Cuts `release/{slug}` in every repository of the project, from the target of the flow's first merge stage. From then on cards come in by pick only. Where one repository refuses, no branch is left. Freezing a frozen release cuts what is missing.",
    tag: "Releases",
    role: "maintainer",
    ...releaseInPath,
    responses: {
      200: { description: "The release, frozen", schema: release },
      409: { description: `Refused by the forge, the release is completed, ${underWay}`, schema: problem },
      ...forgeProblems,
    },
    handle: (deps, { write, subject }) => freezeRelease(deps, write, subject),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/releases/{id}/freeze",
    summary: "Unfreeze a release, removing its branches",
    description:
      "All of them, and only where nothing was picked or pushed onto any. A release that is not frozen stays as it is.",
    tag: "Releases",
    role: "maintainer",
    ...releaseInPath,
    responses: {
      200: { description: "The release, not frozen", schema: release },
      409: {
        description: `A branch has picked or pushed commits, the forge refuses, the release is completed, ${underWay}`,
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
      "The only way to add a card after freezing. Its merged commits are cherry-picked onto the release's branch in each of its repositories, in order, in all of them or in none. What a branch has already is a success.",
    tag: "Releases",
    role: "member",
    ...releaseInPath,
    body: z.strictObject({ taskNumber: taskNumber.meta({ example: 7 }) }),
    responses: {
      200: { description: "The release", schema: release },
      409: {
        description: `The card is not merged yet, conflicts, or is in another open release; the release is not frozen, or completed; the forge refuses, ${underWay}`,
        schema: pickRefusal,
      },
      ...forgeProblems,
    },
    handle: (deps, { write, subject, body }) => pickCard(deps, write, subject, body.taskNumber),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/promote",
    summary: "Move the cards of a release into a stage",
    description:
      "One after the other, each to the end of the column, as a separate move. Cards that are refused stay put, those promoted stay promoted. The answer comes after 55 seconds at the latest: what is pending then goes on, and `GET /v1/operations/{operationId}` tells of it.",
    tag: "Releases",
    role: "member",
    ...releaseInPath,
    body: z.strictObject({
      statusId: id().meta({ description: "The stage, from GET /v1/board" }),
      taskNumbers: z
        .array(taskNumber)
        .optional()
        .meta({
          description: "Only these cards of the release; all of them when left out",
          example: [7, 12],
        }),
    }),
    responses: {
      200: { description: "What became of each card so far", schema: promotionOutcome },
      409: { description: `The release is completed, ${underWay}`, schema: problem },
    },
    handle: (deps, { write, subject, body }) => promoteRelease(deps, write, subject, body),
  }),
  writeRoute({
    method: "post",
    path: "/v1/releases/{id}/complete",
    summary: "Complete a release, tagging its repositories",
    description:
      "Writes one tag and one provider release per repository: at the release's branch if it is frozen, else at the target of the flow's last merge stage. All versions are checked before anything is written. The notes list the cards with their pull requests, and say which cards the tag is known to lack. Cut off half-way, the same call finishes the rest.",
    tag: "Releases",
    role: "maintainer",
    ...releaseInPath,
    body: z.strictObject({
      versions: z
        .array(
          z.strictObject({
            repositoryId: id(),
            tagName: text({ min: 1, max: MAX_BRANCH_NAME_BYTES }).meta({
              description: "A name git allows for a tag",
              example: "v1.4.0",
            }),
          }),
        )
        .max(500, "at most 500 versions")
        .meta({ description: "One for every repository that holds a card of the release" }),
    }),
    responses: {
      200: { description: "The release, completed", schema: release },
      409: {
        description: `A tag is taken, the forge refuses, the release is completed already, ${underWay}`,
        schema: problem,
      },
      ...forgeProblems,
    },
    handle: (deps, { write, subject, body }) => completeRelease(deps, write, subject, body.versions),
  }),
  readRoute({
    path: "/v1/operations/{operationId}",
    summary: "What a promotion has come to so far",
    tag: "Releases",
    params: z.object({ operationId: id() }),
    responses: { 200: { description: "What became of each card so far", schema: promotionOutcome } },
    handle: async (deps, { board, params }) => {
      const action = await findAction(deps.db, board.workspaceId, params.operationId);
      if (action?.kind !== "promote") throw notFound("There is no operation with this id on this board.");
      return readPromotion(deps.db, action.id);
    },
  }),
];
