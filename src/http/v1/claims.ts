import { z } from "zod";
import { claimCard, claimNext, releaseClaim } from "../../actions/claims/claims.ts";
import { requireFound } from "../../errors.ts";
import { findFilterSubjects } from "../../store/cards/card-list.ts";
import { lockRelated } from "../../store/cards/card-relations.ts";
import type { Trx } from "../../store/db/connect.ts";
import { cardOf, cardParams } from "../resolve.ts";
import type { Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { id, text } from "../validate.ts";
import { card } from "./cards.ts";
import { claim, problem } from "./shapes.ts";

const heldClaim = z
  .object({ claimId: z.uuid(), ...claim.shape })
  .meta({ id: "HeldClaim", description: "A claim, with the id that only its holder gets" });

const lasting = {
  ttlSeconds: z
    .int()
    .min(60)
    .max(3_600)
    .meta({ description: "The claim expires after so many seconds unless it is renewed" }),
  note: text({ max: 500 }).nullable().optional().meta({ description: "Shown on the card" }),
};

const refused = {
  description:
    "Another credential has claimed the card, this claim is lost, or the credential holds too many",
  schema: problem,
};

const nextInput = z.strictObject({
  projectId: id().optional().meta({ description: "By default all projects of the board" }),
  statusId: id()
    .optional()
    .meta({ description: "A stage; by default all but the backlog and the last ones" }),
  labels: z
    .array(id())
    .max(100)
    .optional()
    .meta({ description: "The ids of labels; the card has all of them" }),
  ...lasting,
});

/** Throws `not_found` for what the board does not have. */
async function requireOnBoard(
  trx: Trx,
  workspaceId: string,
  { projectId, statusId, labels = [] }: z.output<typeof nextInput>,
): Promise<void> {
  const subjects = { projectId, statusId, labelId: undefined, featureId: undefined, user: undefined };
  const found = await findFilterSubjects(trx, workspaceId, subjects);
  if (projectId !== undefined) requireFound(found.project, "project");
  if (statusId !== undefined) requireFound(found.stage, "stage");
  if (labels.length === 0) return;
  const known = await lockRelated(trx, "labels", workspaceId, labels);
  requireFound(
    labels.every((label) => known.has(label)),
    "label",
  );
}

export const claimRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/cards/{number}/claim",
    summary: "Claim a card",
    description:
      "Reserves the card for the credential, so that no other one can claim it; reading, comments and moves by others remain possible. With `claimId`, the claim is renewed. Without it, a credential that has claimed the card takes it over from its earlier run: the generation grows, and the earlier `claimId` is lost.",
    tag: "Claims",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      ...lasting,
      claimId: id().optional().meta({ description: "The claim to renew. A note that is omitted stays" }),
    }),
    responses: { 200: { description: "The claim", schema: heldClaim }, 409: refused },
    find: cardOf,
    handle: (deps, { write, subject, body }) => claimCard(deps, write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}/claim",
    summary: "Release a card",
    description: "Ends the credential's claim of the card before it expires.",
    tag: "Claims",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      outcome: text({ max: 500 }).nullable().optional().meta({
        description: "The result of the work, for the timeline",
      }),
    }),
    responses: { 204: { description: "Released", schema: null }, 409: refused },
    find: cardOf,
    handle: (_, { write, subject, body }) => releaseClaim(write, subject, body.outcome ?? null),
  }),
  writeRoute({
    method: "post",
    path: "/v1/claims/next",
    summary: "Claim the next free card",
    description:
      "Claims the first card, in the order of the columns, that is not claimed, blocked or assigned to somebody else. Concurrent calls get different cards.",
    tag: "Claims",
    role: "member",
    body: nextInput,
    responses: {
      200: {
        description: "The card and its claim",
        schema: z.object({ card, claim: heldClaim }).meta({ id: "NextClaim" }),
      },
      204: { description: "No card is free", schema: null },
      409: refused,
    },
    handle: async (deps, { write, body }) => {
      await requireOnBoard(write.trx, write.workspaceId, body);
      const { labels = [], ...input } = body;
      return claimNext(deps, write, { ...input, labelIds: labels });
    },
  }),
];
