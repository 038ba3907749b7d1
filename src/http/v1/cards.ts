import { z } from "zod";
import { ON_FAILING_CHECKS } from "../../flow/readiness.ts";
import { createCard } from "../../actions/cards/create-card.ts";
import { createCardFromBranch, MAX_DESCRIPTION } from "../../actions/cards/create-card-from-branch.ts";
import { deleteCard, updateCard } from "../../actions/cards/update-card.ts";
import { linkBranch, type BranchSource } from "../../actions/moves/adopt-branch.ts";
import { unlinkRepository } from "../../actions/cards/relink-card.ts";
import { cancelArmed } from "../../actions/moves/cancel-armed.ts";
import { DEFAULT_EXPIRY_HOURS, moveCard } from "../../actions/moves/move-card.ts";
import { withdrawRefusal } from "../../actions/moves/withdraw-refusal.ts";
import { invalid } from "../../errors.ts";
import { readCard } from "../../store/cards/cards.ts";
import { listTimeline } from "../../store/events/timeline.ts";
import { cardOf, cardParams, cardNotFound, projectOf } from "../resolve.ts";
import { keyedListRoute } from "../list-route.ts";
import { readRoute, type Route } from "../route.ts";
import { writeRoute } from "../write-route.ts";
import { day, id, text } from "../validate.ts";
import { armedHeads, blocked, blockedReason, timelineItem } from "./details.ts";
import {
  FEED_SEQ_HEADER,
  cardLabel,
  checksState,
  claim,
  feedHeaders,
  landed,
  priority,
  problem,
  promotion,
  timestamp,
  user,
} from "./shapes.ts";

export const children = z
  .object({ total: z.int(), done: z.int().meta({ description: "Those in a last stage" }) })
  .meta({ id: "Children", description: "How many sub-cards the card has" });

export const cardRepository = z
  .object({
    fullName: z.string(),
    url: z.string().meta({ description: "Its page on GitHub" }),
    cloneUrl: z.string(),
    branchName: z.string().nullable().meta({ description: "The card's branch; null before it is created" }),
    headSha: z.string().nullable().meta({ description: "Its newest commit; null if it does not exist" }),
    prNumber: z.int().nullable(),
    prUrl: z.string().nullable(),
    prState: z.enum(["draft", "open", "merged", "closed"]).nullable(),
    targetBranch: z.string().nullable().meta({ description: "What the pull request merges into" }),
    checksState,
    reviewState: z.enum(["approved", "changes_requested", "review_required"]).nullable(),
    hasConflicts: z.boolean().nullable(),
    isBehind: z
      .boolean()
      .nullable()
      .meta({ description: "Whether the target has commits that the branch lacks" }),
    isInMergeQueue: z.boolean().nullable(),
  })
  .meta({
    id: "CardRepository",
    description:
      "The branch and its newest pull request, as webhooks and GitHub's last answer show them. `reviewState`, `hasConflicts`, `isBehind` and `isInMergeQueue` are of an open pull request, and null while they are unknown, usually for up to a minute after a change",
  });

const armed = z
  .object({
    id: z.uuid(),
    statusId: z.uuid(),
    by: user,
    expiresAt: timestamp,
    heads: armedHeads,
    waitingFor: z.array(blockedReason).meta({ description: "As in `blocked.reasons`" }),
  })
  .meta({ id: "ArmedMove", description: "A move that waits until it is ready" });

export const card = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    number: z.int(),
    title: z.string(),
    description: z.string(),
    statusId: z.uuid().meta({ description: "The stage of the card; the backlog for a draft" }),
    position: z.int().meta({ description: "Position in its column, 0 is the top" }),
    priority,
    assignee: user.nullable(),
    labels: z.array(cardLabel),
    createdBy: user,
    blocked: blocked.nullable(),
    repositories: z.array(cardRepository),
    featureId: z.uuid().nullable(),
    parentNumber: z.int().nullable(),
    children,
    commentCount: z.int(),
    dueDate: z.iso.date().nullable(),
    hotfix: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
    claim: claim.optional(),
    armed: armed.optional(),
  })
  .meta({ id: "Card" });

const title = text({ min: 1, max: 500, isTrimmed: true });
const description = text({ max: MAX_DESCRIPTION }).meta({
  description: "Markdown. `[[Wiki links]]` attach pages to the card",
});

const repositoryIds = z.array(id()).max(100);

const related = {
  labelIds: z
    .array(id())
    .max(100)
    .optional()
    .meta({ description: "Labels of the board. Replaces the whole set" }),
  featureId: id().nullable().optional().meta({ description: "A feature of the board; null for none" }),
  docIds: z
    .array(id())
    .max(100)
    .optional()
    .meta({ description: "Pages of the board to attach to the card. Replaces the whole set" }),
  priority: priority.optional(),
  assigneeId: id().nullable().optional().meta({ description: "A member of the board; null for none" }),
  assignee: id().nullable().optional().meta({ description: "Another name of `assigneeId`" }),
  dueDate: day().nullable().optional(),
  parentNumber: z
    .int()
    .nullable()
    .optional()
    .meta({ description: "A card of the same board; null for none" }),
};

/** The input with `assigneeId` for `assignee`. Throws `invalid` if the two differ. */
function withAssigneeId<
  T extends { assignee?: string | null | undefined; assigneeId?: string | null | undefined },
>(input: T): Omit<T, "assignee"> {
  const { assignee, ...named } = input;
  if (assignee === undefined) return named;
  if (named.assigneeId !== undefined && named.assigneeId !== assignee) {
    const message = "is another name of assigneeId. Send one of them";
    throw invalid(`body.assignee: ${message}`, [{ path: "body.assignee", message }]);
  }
  return { ...named, assigneeId: assignee };
}

/** The branch that a new card is made of, or null. */
function createdFrom(
  pullRequest: { readonly repositoryId: string; readonly number: number } | undefined,
  branch: { readonly repositoryId: string; readonly name: string } | undefined,
): BranchSource | null {
  if (pullRequest) return { repositoryId: pullRequest.repositoryId, prNumber: pullRequest.number };
  return branch ? { repositoryId: branch.repositoryId, branchName: branch.name } : null;
}

/** The branch that a body names. Throws `invalid` unless it names one. */
function sourceOf(
  repositoryId: string,
  named: { readonly branchName?: string | undefined; readonly prNumber?: number | undefined },
): BranchSource {
  const { branchName, prNumber } = named;
  if (branchName !== undefined && prNumber === undefined) return { repositoryId, branchName };
  if (prNumber !== undefined && branchName === undefined) return { repositoryId, prNumber };
  const message = "must have either branchName or prNumber";
  throw invalid(`body: ${message}`, [{ path: "body", message }]);
}

const branchName = text({ min: 1, max: 255 }).meta({ description: "An existing branch" });
const prNumber = z.int().min(1).meta({ description: "An open pull request, whose branch it is" });
const linkParams = cardParams.extend({ repositoryId: id().meta({ description: "Of the card's project" }) });

const alreadyMerged = z.array(landed).optional().meta({
  description:
    "Merges that an earlier call or a person made into the target of the stage. Absent if there are none. With `promoted`, these are all merges into the target",
});

const commitSha = z.string().regex(/^[0-9a-f]{40}$/, "must be a commit SHA: 40 lower-case hex digits");

const headShas = z.record(z.string(), commitSha);

const moveResult = z
  .object({
    task: z.object({ number: z.int(), statusId: z.uuid(), blocked: blocked.nullable() }),
    promoted: z.array(promotion).meta({
      description:
        "The merges of this move, with those of its earlier attempts; empty if there was nothing to merge",
    }),
    alreadyMerged,
    armed: armed.optional(),
    queued: z
      .array(promotion)
      .optional()
      .meta({ description: "Merges that GitHub has accepted and not finished" }),
  })
  .meta({ id: "MoveResult" });

const refusal = problem
  .extend({ blocked: blocked.optional(), promoted: z.array(promotion).optional(), alreadyMerged })
  .meta({ id: "MoveRefusal" });

export const cardRoutes: readonly Route[] = [
  writeRoute({
    method: "post",
    path: "/v1/cards",
    summary: "Create a card",
    description:
      "Without `statusId` the card is a draft in the backlog, without Git activity. With one, the card is created and then moved to that stage. If GitHub or a gate refuses the move, the response is still 201, and the card is in the backlog with `blocked` set.\n\nWith `pullRequest` or `branch`, the card owns that branch. Without `statusId` it enters the stage that fits: the one for review if the pull request is ready for it, else the first one with a branch.",
    tag: "Cards",
    role: "member",
    body: z
      .strictObject({
        title: title.optional().meta({
          description: "Required without `pullRequest` and `branch`; by default the title or name of these",
        }),
        description: description.optional().meta({
          description:
            "Markdown. By default that of the pull request. `[[Wiki links]]` attach pages to the card",
        }),
        pullRequest: z
          .strictObject({ repositoryId: id(), number: z.int().min(1) })
          .optional()
          .meta({ description: "An open pull request that no card has" }),
        branch: z
          .strictObject({ repositoryId: id(), name: branchName })
          .optional()
          .meta({ description: "An existing branch that no card has" }),
        projectId: id().optional().meta({ description: "Required if the board has several projects" }),
        statusId: id().optional(),
        hotfix: z
          .boolean()
          .optional()
          .meta({ description: "Starts the branch from the last target of the flow" }),
        repositoryIds: repositoryIds
          .optional()
          .meta({ description: "Replaces the whole set; by default the project's default repositories" }),
        ...related,
      })
      .superRefine(({ title: given, pullRequest, branch }, context) => {
        const report = (field: string, message: string) =>
          context.addIssue({ code: "custom", path: [field], message });
        if (pullRequest && branch) report("branch", "send pullRequest or branch, not both");
        if (given === undefined && !pullRequest && !branch) report("title", "is required (text)");
      }),
    responses: {
      201: { description: "The created card", schema: card },
      409: {
        description:
          "The branch does not exist or belongs to another card, or the pull request is not open or comes from a fork",
        schema: problem,
      },
      503: { description: "GitHub could not be reached; make the same call again", schema: problem },
    },
    handle: async (deps, { write, body: { projectId, pullRequest, branch, ...input } }) => {
      const project = await projectOf(write.trx, write.workspaceId, projectId);
      const source = createdFrom(pullRequest, branch);
      const fields = withAssigneeId(input);
      if (source) return createCardFromBranch(deps, write, project, source, fields);
      // The schema requires a title then.
      return createCard(deps, write, project, { ...fields, title: fields.title ?? "" });
    },
  }),
  readRoute({
    path: "/v1/cards/{number}",
    summary: "Get a card",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "The card", schema: card, headers: feedHeaders } },
    confirmsCredential: true,
    handle: async (deps, { cachedCredential, board, params: { number } }, { setHeader }) => {
      const found = await readCard(deps.db, cachedCredential, board.workspaceId, number);
      if (found === null) throw cardNotFound(number);
      setHeader(FEED_SEQ_HEADER, String(found.feedSeq));
      return found.card;
    },
  }),
  writeRoute({
    method: "patch",
    path: "/v1/cards/{number}",
    summary: "Update a card",
    description: "Omitted fields are unchanged; null clears a field.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      title: title.optional(),
      description: description.optional(),
      repositoryIds: repositoryIds.optional().meta({
        description:
          "Repositories of the card's project. Replaces the whole set. Linking a repository to a card in a stage with a Git rule creates the card's branch there; linking it again restores the branch the card had there",
      }),
      ...related,
    }),
    responses: {
      200: { description: "The updated card", schema: card },
      409: {
        description:
          "A repository to unlink has an open pull request, or the card is being moved (with Retry-After)",
        schema: problem,
      },
    },
    find: cardOf,
    handle: (deps, { write, subject, body }) => updateCard(deps, write, subject, withAssigneeId(body)),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}",
    summary: "Delete a card",
    description:
      "Deletes the card permanently. Its number is not reused. Its branches remain on GitHub, and its pull requests stay open without `closePullRequests`.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    query: z.object({
      closePullRequests: z.enum(["true", "false"], "must be true or false").optional().meta({
        description: "Whether its open pull requests are closed on GitHub, shortly after the response",
      }),
    }),
    responses: { 204: { description: "Deleted", schema: null } },
    find: cardOf,
    handle: (_, { write, subject, query }) => deleteCard(write, subject, query.closePullRequests === "true"),
  }),
  writeRoute({
    method: "put",
    path: "/v1/cards/{number}/repositories/{repositoryId}",
    summary: "Give a card an existing branch",
    description:
      "Links the card to the repository if it is not linked yet, and makes the branch and its open pull request the card's. Then applies the rule of the card's stage, for example opens the draft pull request. Changes nothing else on GitHub.",
    tag: "Cards",
    role: "member",
    params: linkParams,
    body: z.strictObject({ branchName: branchName.optional(), prNumber: prNumber.optional() }),
    responses: {
      200: { description: "The card", schema: card },
      409: {
        description:
          "The branch does not exist or belongs to another card, the pull request is not open or comes from a fork, the card has another branch there, or the card is being moved (with Retry-After)",
        schema: problem,
      },
      503: { description: "GitHub could not be reached; make the same call again", schema: problem },
    },
    find: cardOf,
    handle: (deps, { write, subject, params, body }) =>
      linkBranch(deps, write, subject, sourceOf(params.repositoryId, body)),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}/repositories/{repositoryId}",
    summary: "Unlink a card from a repository",
    description: "The card gives up its branch there. On GitHub, nothing happens: pull requests stay open.",
    tag: "Cards",
    role: "member",
    params: linkParams,
    responses: {
      204: { description: "Unlinked", schema: null },
      409: { description: "The card is being moved (with Retry-After)", schema: problem },
    },
    find: cardOf,
    handle: (_, { write, subject, params }) => unlinkRepository(write, subject, params.repositoryId),
  }),
  writeRoute({
    method: "post",
    path: "/v1/cards/{number}/move",
    summary: "Move a card",
    description:
      "Creates the branch, opens the pull request, marks it ready or merges it, as the rule of the target stage requires. If GitHub or a gate of the stage refuses, the response is 409, the card stays in its stage, and its `blocked` has the reason.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    body: z.strictObject({
      statusId: id().meta({ description: "A stage of the project's flow" }),
      index: z.int().min(0, "must be at least 0, the top of the column").meta({
        description: "Position in the target column; a number above the count of its cards means the end",
      }),
      headShas: headShas.optional().meta({
        description:
          "The commits that the card's branches must have, by the `fullName` of the repository. If a branch is at another commit, the move is refused with `head_moved`. Moves into stages without a Git rule ignore it",
      }),
      whenReady: z
        .strictObject({
          expiresInHours: z
            .int()
            .min(1)
            .max(72)
            .optional()
            .meta({ description: `By default ${DEFAULT_EXPIRY_HOURS}` }),
          headShas: headShas.optional(),
          onFailingChecks: z.enum(ON_FAILING_CHECKS).optional().meta({
            description:
              "`disarm` (by default) ends the waiting when a check fails; `wait` waits until it is run again",
          }),
        })
        .optional()
        .meta({
          description:
            "If checks or reviews are missing, arms the move instead of refusing it. The move runs once, with the present commits, when they have passed",
        }),
    }),
    responses: {
      200: { description: "Moved", schema: moveResult },
      202: {
        description:
          "GitHub has queued a merge; the card moves when GitHub merges it. Or, with `armed`: the move waits until it is ready",
        schema: moveResult,
      },
      409: {
        description: "GitHub or a gate refused, or another call is moving the card (with Retry-After)",
        schema: refusal,
      },
      503: { description: "GitHub could not be reached; make the same call again", schema: problem },
    },
    find: cardOf,
    handle: (deps, { write, subject, body }) => moveCard(deps, write, subject, body),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}/armed",
    summary: "Disarm a move",
    description: "Disarms a move that was armed with `whenReady`. The card stays in its stage.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    responses: {
      204: { description: "Disarmed", schema: null },
      409: { description: "The move is being made (with Retry-After)", schema: problem },
    },
    find: cardOf,
    handle: (_, { write, subject }) => cancelArmed(write, subject),
  }),
  writeRoute({
    method: "delete",
    path: "/v1/cards/{number}/blocked",
    summary: "Withdraw a refused move",
    description:
      "Clears `blocked` and its inbox item. The timeline keeps the refusal. Only the person whose move was refused, and maintainers, may do this.",
    tag: "Cards",
    role: "member",
    params: cardParams,
    responses: { 204: { description: "Withdrawn", schema: null } },
    find: cardOf,
    handle: (_, { write, subject }) => withdrawRefusal(write, subject),
  }),
  keyedListRoute({
    path: "/v1/cards/{number}/timeline",
    summary: "List the timeline of a card",
    tag: "Cards",
    params: cardParams,
    list: {
      description:
        "In the order recorded, oldest first. The order never changes. An event that Trunkline received late comes after events recorded before it, with an earlier `at`",
      schema: z.array(timelineItem),
    },
    key: z.int().min(1),
    handle: async (deps, { board, params, credential }, window) =>
      listTimeline(deps.db, (await cardOf(deps.db, board, params)).id, credential.userId, window),
  }),
];
