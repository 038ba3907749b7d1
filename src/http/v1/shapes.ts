import { z } from "zod";
import { COLORS } from "../../flow/colors.ts";
import { UNAVAILABLE_REASONS } from "../../forge/values.ts";
import { RULE_TYPES } from "../../flow/flow.ts";
import { ROLES } from "../../flow/roles.ts";
import { PRIORITIES } from "../../store/cards/cards.ts";

/** Schemas of responses for the OpenAPI document. Responses are not validated with them. */

export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: "ISO 8601 UTC with milliseconds" });

/** Why a 503 is returned, where the connection to GitHub is described. */
export const unavailable = z
  .object({
    reason: z.enum(UNAVAILABLE_REASONS),
    until: timestamp.meta({ description: "For a rate limit, when GitHub accepts calls again" }),
  })
  .nullable()
  .meta({ description: "Why GitHub lately did not respond to a call; null if there is nothing to report" });

export const role = z.enum(ROLES);
export const priority = z.enum(PRIORITIES);

export const user = z
  .object({
    id: z.uuid(),
    name: z.string(),
    avatarUrl: z.string().nullable(),
    kind: z.enum(["human", "machine", "agent"]),
  })
  .meta({ id: "User" });

export const rule = z
  .object({
    type: z.enum(RULE_TYPES).meta({
      description:
        "What the stage requires of the card in every linked repository. Each type includes the ones before it. With `draft_pull_request`, the draft opens at the first push; with `pull_request`, it is ready for review",
    }),
    into: z.string().nullable().meta({
      description:
        "For `merge`: the branch to merge into, null for the default branch of the repository. Two stages cannot merge into the same branch",
    }),
  })
  .meta({ id: "Rule" });

export const color = z.enum(COLORS);

export const cardLabel = z.object({ id: z.uuid(), name: z.string(), color }).meta({ id: "CardLabel" });

export const checksState = z
  .enum(["passing", "failing", "pending"])
  .nullable()
  .meta({ description: "null if nothing has reported" });

export const reviewState = z.enum(["approved", "changes_requested", "commented", "dismissed", "pending"]);

export const actor = z
  .object({
    user: user.pick({ id: true, name: true, kind: true }),
    login: z.string().nullable().meta({ description: "The GitHub login, if GitHub reported the event" }),
  })
  .meta({ id: "Actor" });

export const promotion = z
  .object({ fullName: z.string(), targetBranch: z.string(), prNumber: z.int() })
  .meta({ id: "Promotion" });

export const landed = promotion
  .extend({
    prNumber: z.int().nullable().meta({ description: "null if the commits came with another branch" }),
  })
  .meta({ id: "Landed", description: "Work of the card that was already in the target of a merge" });

export const claim = z
  .object({
    generation: z.int().meta({ description: "Grows with each claim of the card" }),
    holder: user,
    expiresAt: timestamp,
    note: z.string().nullable(),
  })
  .meta({ id: "Claim", description: "Who works on the card. Absent unless the card is claimed" });

export const problem = z
  .object({
    message: z.string(),
    error: z.string(),
    statusCode: z.int(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    code: z.enum(["claimed", "claim_lost", "claim_limit"]).optional().meta({
      description: "Of a 409 that is due to a claim: another one, its loss, or the credential's limit",
    }),
    claim: claim.optional().meta({ description: "The claim that the card has" }),
    reason: z.enum(UNAVAILABLE_REASONS).optional().meta({ description: "Of a 503 that is due to GitHub" }),
  })
  .meta({
    id: "Problem",
    example: {
      message: "body.title: must have 1 to 500 characters, without leading and trailing spaces",
      error: "Bad Request",
      statusCode: 400,
      issues: [
        { path: "body.title", message: "must have 1 to 500 characters, without leading and trailing spaces" },
      ],
    },
  });

export const FEED_SEQ_HEADER = "X-Feed-Seq";

export const feedHeaders = z.object({
  [FEED_SEQ_HEADER]: z.string().meta({
    description: "The newest event of the feed when this was read; continue with the events after it",
    example: "123",
  }),
});
