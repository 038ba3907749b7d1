import { z } from "zod";
import { SECOND_PERSON_CAUSES } from "../../flow/gates.ts";
import { DISARM_CAUSES } from "../../flow/readiness.ts";
import { CONNECTION_FAULTS, REFUSAL_REASONS, type RefusalReason } from "../../flow/refusal.ts";
import type { EventKind } from "../../store/events/event-kinds.ts";
import { actor, checksState, reviewState, timestamp } from "./shapes.ts";

/** The variants of a union by reason or kind. Those with the same shape share a variant. */
export function variants<Kind extends string>(
  shapes: Readonly<Record<Kind, z.ZodObject>>,
  variant: (kind: z.ZodEnum, shape: z.ZodObject) => z.ZodObject,
): [z.ZodObject, ...z.ZodObject[]] {
  const kindsOf = (shape: z.ZodObject) =>
    (Object.keys(shapes) as Kind[]).filter((kind) => shapes[kind] === shape);
  const distinct = [...new Set(Object.values<z.ZodObject>(shapes))];
  return distinct.map((shape) => variant(z.enum(kindsOf(shape)), shape)) as [z.ZodObject];
}

export const skipUnknown = "Skip a kind you do not know: new ones are added.";
export const sha = z.string().meta({ description: "The id of a commit" });
export const branchName = z.string();
export const prNumber = z.int();
export const targetBranch = z.string();
export const login = z.string().nullable().meta({ description: "The GitHub login; null if unknown" });
export const names = z.array(z.string());

/**
 * What GitHub's message names; a message may name several rules, so every reason can have these.
 */
const githubDetails = z.object({
  checks: names.optional().meta({ description: "The required checks that GitHub's message names" }),
  requiredReviews: z.int().optional(),
  rule: z.enum(["code_scanning", "last_push_approval", "conversations"]).optional().meta({
    description: "The rule that GitHub's message is about, if the reason alone does not tell",
  }),
  mergeMethod: z.enum(["merge", "squash", "rebase"]).optional().meta({
    description: "The merge method that the repository does not allow",
  }),
  permissions: names.optional().meta({
    description: "What the App must be granted, if GitHub names it: each entry alone suffices",
  }),
  connection: z.enum(CONNECTION_FAULTS).optional().meta({
    description: "Set if Trunkline cannot work with the repository at all",
  }),
});
const checksDetails = githubDetails.extend({
  failing: names.optional().meta({ description: "The names of the failing checks" }),
  pending: names.optional().meta({ description: "The names of the pending checks" }),
});

const reviewDetails = githubDetails.extend({
  ownApprovals: names.optional().meta({
    description: "The logins whose approvals do not count, because they pushed or wrote commits",
  }),
  lastPusher: z
    .string()
    .optional()
    .meta({ description: "The login of the last pusher, who must not be the only approver" }),
  unresolved: z
    .int()
    .nullable()
    .optional()
    .meta({ description: "The number of conversations to resolve; null if GitHub does not list all" }),
  cause: z.enum(["pusher_unknown", "too_many_commits"]).optional().meta({
    description: "Why no approval counts as independent",
  }),
});

const refusalDetails: Readonly<Record<RefusalReason, z.ZodObject>> = {
  conflicts: githubDetails.extend({
    prNumber: prNumber.optional(),
    files: names.optional().meta({ description: "The files that both sides changed, if GitHub lists them" }),
  }),
  checks_failing: checksDetails,
  checks_pending: checksDetails,
  nothing_to_merge: githubDetails,
  review_required: reviewDetails,
  changes_requested: githubDetails,
  behind_base: githubDetails,
  protected: githubDetails,
  not_permitted: githubDetails,
  pull_request_closed: githubDetails.extend({ prNumber: prNumber.optional() }),
  branch_missing: githubDetails.extend({
    branch: branchName.optional().meta({ description: "The missing branch" }),
    taken: names.optional().meta({
      description: "The branch names that cannot be used, because they exist or another card has them",
    }),
  }),
  head_moved: githubDetails.extend({
    requiredSha: z.string().optional().meta({ description: "The commit in `headShas` of the move" }),
    headSha: z
      .string()
      .nullable()
      .optional()
      .meta({ description: "The branch's commit instead; null if there is no branch" }),
  }),
  queue_rejected: githubDetails.extend({
    reason: z.string().optional().meta({ description: "The reason from GitHub's merge queue" }),
  }),
  wip_limit: z.object({
    wipLimit: z.int(),
    cards: z.int().meta({ description: "The cards in the stage and on their way to it" }),
  }),
  human_only: z.object({}),
  needs_second_person: z.object({
    cause: z.enum(SECOND_PERSON_CAUSES),
    headSha: z.string().optional().meta({ description: "The head of the branch that was checked" }),
  }),
  unknown: githubDetails.extend({
    attempts: z.int().optional().meta({
      description: "Set if Trunkline gave up the move: how often a process or a call has taken it up",
    }),
  }),
};

const message = z.string().meta({ description: "GitHub's message, verbatim, if there is one" });
const repository = z
  .string()
  .meta({ description: "The full name of the repository; empty for a gate that concerns none" });

export const blockedReason = z
  .discriminatedUnion(
    "reason",
    variants(refusalDetails, (reason, details) => z.object({ reason, message, repository, details })),
  )
  .meta({ id: "BlockedReason" });

export const blocked = z
  .object({
    reason: z.enum(REFUSAL_REASONS),
    message,
    repository,
    reasons: z.array(blockedReason).meta({ description: "All reasons; the first one is repeated above" }),
    statusId: z.uuid().meta({ description: "The stage that the card could not enter" }),
    headSha: z.string().nullable(),
    at: timestamp,
  })
  .meta({ id: "Blocked", description: "Why the last move was refused" });

const pullRequest = z.object({ prNumber, targetBranch });
const generation = z.int().meta({ description: "Grows with each claim of the card" });
const release = z.object({ releaseId: z.uuid(), releaseName: z.string() });

const armedId = z.uuid().meta({ description: "The id of the armed move" });
const armedStage = z.uuid().meta({ description: "The stage of the armed move" });
export const armedHeads = z
  .array(z.object({ fullName: z.string(), sha }))
  .meta({ description: "The commits that are merged, and no others" });
export const disarmed = z.object({
  armedId,
  statusId: armedStage,
  reason: z.enum([...DISARM_CAUSES, ...REFUSAL_REASONS]),
  message: z.string(),
});

const eventData: Readonly<Record<EventKind, z.ZodObject>> = {
  created: z.object({ number: z.int() }),
  updated: z.object({
    fields: names.meta({ description: "The fields in the request that changed the card" }),
  }),
  status_changed: z.object({
    from: z.uuid().meta({ description: "The stage before" }),
    to: z.uuid().meta({ description: "The stage after" }),
    above: z
      .int()
      .nullable()
      .optional()
      .meta({ description: "The number of the card above it; null at the top" }),
  }),
  branch_created: z.object({ branchName, sha }),
  branch_adopted: z.object({ branchName, sha: sha.nullable(), prNumber: prNumber.nullable() }),
  branch_deleted: z.object({ branchName, sha: sha.nullable() }),
  pushed: z.object({
    branchName,
    before: sha.nullable(),
    after: sha,
    commits: z.array(z.object({ sha, title: z.string() })),
    forced: z.boolean(),
  }),
  pull_request_opened: pullRequest.extend({
    isDraft: z.boolean().optional().meta({ description: "Absent if the event was recorded from a webhook" }),
  }),
  pull_request_ready: pullRequest,
  rules_bypassed: pullRequest.extend({
    rules: names.meta({ description: "The rules that the App bypassed, as the flow allows" }),
  }),
  pull_request_merged: pullRequest.extend({
    sha: sha
      .nullable()
      .optional()
      .meta({ description: "The commit of the merge. Absent if the event was recorded from a webhook" }),
  }),
  pull_request_closed: pullRequest,
  pull_request_reopened: pullRequest,
  promotion_refused: blocked,
  refusal_withdrawn: z.object({
    statusId: z.uuid().meta({ description: "The stage that the card could not enter" }),
    reason: z.enum(REFUSAL_REASONS),
  }),
  checks_changed: z.object({ branchName, sha, from: checksState, to: checksState }),
  review_submitted: z.object({ prNumber, state: reviewState }),
  repository_linked: z.object({ repositoryId: z.uuid() }),
  repository_unlinked: z.object({ repositoryId: z.uuid(), branchName: branchName.nullable() }),
  backmerge_opened: pullRequest.extend({ branchName }),
  release_added: release,
  release_picked: release.extend({ commits: z.array(sha).meta({ description: "The commits of the pick" }) }),
  release_completed: release.extend({
    tags: z.array(z.object({ fullName: z.string(), tagName: z.string(), sha })),
  }),
  proposal_opened: pullRequest.extend({ headBranch: z.string() }),
  proposal_accepted: pullRequest.extend({ sha: sha.nullable() }),
  agent_gave_up: z.object({
    prNumber: prNumber.nullable().meta({ description: "null if the agent gave up through the API" }),
    reason: z.string().nullable(),
  }),
  claimed: z.object({
    generation,
    expiresAt: timestamp.meta({ description: "When the claim expires unless it is renewed" }),
  }),
  claim_released: z.object({
    generation,
    outcome: z.string().nullable().meta({ description: "What the holder said about the result" }),
  }),
  claim_expired: z.object({ generation }),
  armed: z.object({ armedId, statusId: armedStage, expiresAt: timestamp, heads: armedHeads }),
  disarmed: disarmed,
};

const happenedAt = timestamp.meta({
  description:
    "When it happened: by GitHub's clock in whole seconds if it happened there, otherwise by Trunkline's. Items are not sorted by it",
});

const timelineEvent = z
  .discriminatedUnion(
    "kind",
    variants(eventData, (kind, data) =>
      z.object({
        type: z.literal("event"),
        id: z.uuid(),
        kind,
        actor,
        repositoryFullName: z.string().nullable(),
        data,
        at: happenedAt,
      }),
    ),
  )
  .meta({ id: "TimelineEvent", description: `What happened to the card. ${skipUnknown}` });

const timelineComment = z
  .object({
    type: z.literal("comment"),
    id: z.uuid(),
    body: z.string(),
    author: actor,
    editable: z.boolean().meta({ description: "Whether this credential may edit it" }),
    at: happenedAt,
    editedAt: timestamp.nullable(),
  })
  .meta({ id: "TimelineComment" });

export const timelineItem = z
  .discriminatedUnion("type", [timelineEvent, timelineComment])
  .meta({ id: "TimelineItem" });
